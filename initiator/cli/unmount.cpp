#include "initiator/cli/unmount.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mount.h>

#include <cerrno>
#include <filesystem>
#include <optional>
#include <vector>

#include "common/error.h"
#include "initiator/cli/child_process.h"

namespace rdmablk::cli {

bool is_rdmablk_mount(const MountEntry& mount) {
  return mount.type == "fuse.rdmablk" ||
         (mount.type == "fuse" && mount.source.starts_with("rdmablk"));
}

namespace {

/// The path with its directory resolved but not its last part: resolving that could ask the mount.
std::filesystem::path resolve_directory(const std::string& path, const std::string& doing) {
  std::filesystem::path plain = std::filesystem::path(path).lexically_normal();
  if (!plain.has_filename()) plain = plain.parent_path();  // "/mnt/disk/"
  const auto directory = plain.has_parent_path() ? plain.parent_path() : ".";
  std::error_code error;
  const auto resolved = std::filesystem::canonical(directory, error);
  if (error) throw SystemError(fmt::format("{} '{}'", doing, path), error.value());
  return (resolved / plain.filename()).lexically_normal();
}

std::optional<MountEntry> find_mount(const std::string& path, const std::string& doing) {
  const auto direct = resolve_directory(path, doing);
  if (auto mount = mounted_at(direct.string())) return mount;
  std::error_code error;
  const auto followed = std::filesystem::canonical(direct, error);
  return error ? std::nullopt : mounted_at(followed.string());
}

/// Whoever names a directory may mean an image that is mounted in it; or the image in a directory
/// that is the mount point.
std::string hint(const std::string& path) {
  for (const MountEntry& mount : read_mount_table()) {
    if (!is_rdmablk_mount(mount)) continue;
    if (path.starts_with(mount.path + "/")) {
      return fmt::format("; it lies in the mount point '{}': name that", mount.path);
    }
    if (mount.path.starts_with(path + "/")) {
      return fmt::format("; below it is the mount point '{}': name that", mount.path);
    }
  }
  return {};
}

[[noreturn]] void fail(const MountEntry& mount, const std::string& why) {
  throw Error(fmt::format("cannot unmount '{}': {}", mount.path, why));
}

[[noreturn]] void fail_busy(const MountEntry& mount) {
  fail(mount,
       fmt::format("it is in use; `fuser -vm '{0}'`, `lsof '{0}'` and `losetup` show by what; "
                   "--lazy takes it away once nothing uses it any more",
                   mount.path));
}

/// For users other than root; it is set-uid and lets them unmount what they mounted.
void unmount_by_helper(const MountEntry& mount, bool lazy) {
  std::vector<std::string> command{"fusermount3", "-u"};
  if (lazy) command.emplace_back("-z");
  command.insert(command.end(), {"--", mount.path});
  const Outcome outcome = run_program_and_wait(std::move(command));
  if (outcome.status == 0) return;
  if (outcome.text.find("busy") != std::string::npos) fail_busy(mount);
  // That is how it says that the mount is another user's.
  if (outcome.text.find("not found in") != std::string::npos) {
    fail(mount, "it takes root, or the user who mounted it");
  }
  const std::string text = outcome.text.substr(0, outcome.text.find('\n'));
  fail(mount, text.empty() ? "fusermount3 failed" : text);
}

}  // namespace

MountEntry find_rdmablk_mount(const std::string& path, const std::string& doing) {
  auto mount = find_mount(path, doing);
  if (!mount) {
    throw Error(fmt::format("cannot {} '{}': nothing is mounted there{}", doing, path,
                            hint(resolve_directory(path, doing).string())));
  }
  if (!is_rdmablk_mount(*mount)) {
    throw Error(fmt::format("cannot {} '{}': it is no mount of rdmablk, but of type {}", doing,
                            mount->path, mount->type));
  }
  return std::move(*mount);
}

void unmount(const MountEntry& mount, bool lazy) {
  const int flags = UMOUNT_NOFOLLOW | (lazy ? MNT_DETACH : 0);
  if (::umount2(mount.path.c_str(), flags) == 0) return;
  if (errno == EPERM) return unmount_by_helper(mount, lazy);
  if (errno == EBUSY) fail_busy(mount);
  fail(mount, errno_text(errno));
}

}  // namespace rdmablk::cli
