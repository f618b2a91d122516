#include "initiator/cli/mount_holder.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <system_error>

#include "common/file_text.h"
#include "common/mount_table.h"

namespace rdmablk::cli {
namespace {

std::optional<pid_t> pid_of(const std::filesystem::path& directory) {
  const std::string name = directory.filename().string();
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (error != std::errc() || end != name.data() + name.size()) return std::nullopt;
  return pid;
}

bool sees(const std::string& process, const std::string& device) {
  const auto text = read_file_text(process + "/mountinfo");
  return text && std::ranges::any_of(parse_mount_table(*text), [&](const MountEntry& mount) {
           return mount.device == device;
         });
}

std::string name_of(const std::string& process) {
  std::string name = read_file_text(process + "/comm").value_or("?");
  if (name.ends_with('\n')) name.pop_back();
  return name;
}

}  // namespace

std::optional<MountHolder> find_mount_holder(const std::string& device) {
  std::error_code error;
  std::filesystem::directory_iterator entry("/proc", error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const auto pid = pid_of(entry->path());
    if (pid && sees(entry->path().string(), device)) {
      return MountHolder{*pid, name_of(entry->path().string())};
    }
  }
  return std::nullopt;
}

std::string what_it_keeps(const MountHolder& holder, pid_t daemon) {
  return fmt::format(
      "process {} ({}) sees it still, in a mount namespace of its own: rdmablk-fuse (process {}) "
      "goes on until it is unmounted there, too",
      holder.pid, holder.name, daemon);
}

}  // namespace rdmablk::cli
