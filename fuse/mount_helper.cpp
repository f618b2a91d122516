#include "fuse/mount_helper.h"

#include <fmt/format.h>
#include <linux/close_range.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <memory>

#include "common/arguments.h"
#include "common/error.h"
#include "common/log.h"
#include "common/mount_namespace.h"
#include "fuse/options.h"
#include "fuse/remount.h"

namespace rdmablk::fuse {
namespace {

class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_usage(const CLI::App* /*app*/, std::string /*name*/) const override {
    return "Usage: mount.rdmablk rdmablk://HOST[:PORT]/EXPORT MOUNTPOINT [-sfnv] [-N NAMESPACE] "
           "[-o OPTIONS]\n";
  }
};

/// What is in front of commas of its own in a list of options.
std::string escaped(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == ',') result += '\\';
    result += c;
  }
  return result;
}

/// Returns only when it fails.
[[noreturn]] void become_daemon(std::vector<std::string> words) {
  std::error_code error;
  const std::filesystem::path self = std::filesystem::read_symlink("/proc/self/exe", error);
  if (error) throw SystemError("find this program by /proc/self/exe", error.value());
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  // A daemon would keep what the caller has open.
  ::close_range(STDERR_FILENO + 1, ~0U, CLOSE_RANGE_CLOEXEC);
  ::execv(self.c_str(), pointers.data());
  throw SystemError(fmt::format("start {}", self.string()), errno);
}

void run(int argc, char** argv) {
  const auto call = parse_helper_call(argc, argv);
  if (!call) return;
  if (call->name_space) enter_mount_namespace(*call->name_space);
  if (!call->is_remount()) become_daemon(call->fuse_arguments());
  const std::string note = remount(*call);
  if (!note.empty()) print_error(kMountHelper, note);
}

}  // namespace

bool HelperCall::is_remount() const {
  for (const std::string& text : options) {
    const auto words = split_mount_options(text);
    if (std::find(words.begin(), words.end(), "remount") != words.end()) return true;
  }
  return false;
}

std::vector<std::string> HelperCall::fuse_arguments() const {
  std::vector<std::string> words{"rdmablk-fuse", "--for-mount", "--quiet"};
  if (is_sloppy) words.emplace_back("--sloppy");
  if (is_fake) words.emplace_back("--fake");
  if (is_verbose) words.emplace_back("--log-level=debug");
  words.insert(words.end(), {"-o", "fsname=" + escaped(source)});
  for (const std::string& text : options) words.insert(words.end(), {"-o", text});
  words.insert(words.end(), {"--", source, mount_point});
  return words;
}

bool is_mount_helper(std::string_view name) {
  const auto slash = name.rfind('/');
  if (slash != std::string_view::npos) name.remove_prefix(slash + 1);
  return name == kMountHelper || name == "mount.fuse.rdmablk";
}

std::optional<HelperCall> parse_helper_call(int argc, const char* const* argv) {
  HelperCall call;
  std::string name_space;
  std::string type;
  bool no_mtab = false;
  CLI::App app(
      "Mounts an image that another machine lends; what mount(8) runs for "
      "`mount -t rdmablk`.");
  app.name(kMountHelper);
  app.formatter(std::make_shared<HelpFormatter>());
  app.footer(
      "The mount options are those of rdmablk-fuse: see `rdmablk-fuse --help`.\n\n"
      "Exit status, as of mount(8): 0 done, 1 wrong usage, 2 system error, 32 failed.");
  app.set_version_flag("-V,--version", "mount.rdmablk " RDMABLK_VERSION);
  app.add_flag("-s", call.is_sloppy, "leave out mount options that are unknown here");
  app.add_flag("-f", call.is_fake, "check, but do not mount");
  app.add_flag("-n", no_mtab, "nothing: there is no mtab to write");
  app.add_flag("-v", call.is_verbose, "say more");
  app.add_option("-N", name_space, "mount in another mount namespace: a process, or a file");
  app.add_option("-t", type, "nothing: the type is known");
  app.add_option("-o", call.options, "mount options, separated by commas")
      ->allow_extra_args(false)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  app.add_option("SOURCE", call.source, "what to mount")->group("");
  app.add_option("MOUNTPOINT", call.mount_point, "where")->group("");
  if (!read_arguments(app, argc, argv)) return std::nullopt;
  if (call.source.empty() || call.mount_point.empty()) {
    throw UsageError(
        "it takes a URI and a mount point: mount.rdmablk rdmablk://HOST[:PORT]/EXPORT MOUNTPOINT");
  }
  if (!name_space.empty()) call.name_space = name_space;
  return call;
}

int run_mount_helper(int argc, char** argv) noexcept {
  try {
    run(argc, argv);
    return kMountDone;
  } catch (const UsageError& error) {
    print_error(kMountHelper, error.what());
    return kMountUsage;
  } catch (const SystemError& error) {
    print_error(kMountHelper, error.what());
    return error.error() == EPERM || error.error() == EACCES ? kMountUsage : kMountSystem;
  } catch (const std::exception& error) {
    print_error(kMountHelper, error.what());
    return kMountFailed;
  }
}

}  // namespace rdmablk::fuse
