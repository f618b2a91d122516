#include "initiator/cli/unmount_helper.h"

#include <CLI/CLI.hpp>

#include "common/arguments.h"
#include "common/error.h"
#include "common/log.h"
#include "common/mount_namespace.h"
#include "initiator/cli/command_line.h"

namespace rdmablk::cli {
namespace {

constexpr const char* kHelper = "umount.rdmablk";

int run(int argc, char** argv) {
  auto words = unmount_words(argc, argv);
  if (!words) return kExitDone;
  std::vector<char*> pointers;
  for (std::string& word : *words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  return run_command_line(static_cast<int>(words->size()), pointers.data());
}

}  // namespace

bool is_umount_helper(std::string_view name) {
  const auto slash = name.rfind('/');
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  return name == kHelper || name == "umount.fuse.rdmablk";
}

std::optional<std::vector<std::string>> unmount_words(int argc, const char* const* argv) {
  std::string mount_point;
  std::string name_space;
  std::string unused;
  bool lazy = false;
  bool force = false;
  bool ignored = false;
  CLI::App app("Takes a mount of an export away; what umount(8) runs.");
  app.name(kHelper);
  app.set_version_flag("-V,--version", "umount.rdmablk " RDMABLK_VERSION);
  app.add_flag("-l", lazy, "take it out of sight now, and away once nothing uses it any more");
  app.add_flag("-f", force, "the same");
  app.add_flag("-n,-r,-v", ignored, "nothing");
  app.add_option("-N", name_space, "of another mount namespace: a process, or a file");
  app.add_option("-t", unused, "nothing: the type is known");
  app.add_option("MOUNTPOINT", mount_point, "what was mounted on")->type_name("")->required();
  if (!read_arguments(app, argc, argv)) return std::nullopt;
  if (!name_space.empty()) enter_mount_namespace(name_space);
  std::vector<std::string> words{"rdmablk", "unmount"};
  if (lazy || force) words.emplace_back("--lazy");
  words.insert(words.end(), {"--", mount_point});
  return words;
}

int run_umount_helper(int argc, char** argv) {
  constexpr int kUsage = 1;
  constexpr int kFailed = 32;
  switch (run_program(kHelper, &run, argc, argv)) {
    case kExitDone:
      return kExitDone;
    case kExitUsage:
      return kUsage;
    default:
      return kFailed;
  }
}

}  // namespace rdmablk::cli
