#include "fuse/mount_point.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "common/error.h"
#include "common/mount_table.h"

namespace rdmablk::fuse {

namespace {

/// Dead mounts that may lie on one another.
constexpr int kMostDeadMounts = 16;

/// The path without symbolic links. The last component may be a dead mount, which realpath(3) does
/// not pass: then the rest is resolved.
std::string canonical_path(const std::string& argument) {
  std::array<char, PATH_MAX> path{};
  if (::realpath(argument.c_str(), path.data()) != nullptr) return path.data();
  const int error = errno;
  if (error == ENOENT) {
    throw Error(fmt::format(
        "mount point {} does not exist; make an empty file or directory there first", argument));
  }
  std::string trimmed = argument;
  while (trimmed.size() > 1 && trimmed.back() == '/') trimmed.pop_back();
  const std::filesystem::path name = std::filesystem::path(trimmed).filename();
  const std::filesystem::path parent = std::filesystem::path(trimmed).parent_path();
  const std::string parent_text = parent.empty() ? "." : parent.string();
  if (name.empty() || ::realpath(parent_text.c_str(), path.data()) == nullptr) {
    throw SystemError(fmt::format("examine mount point {}", argument), error);
  }
  return (std::filesystem::path(path.data()) / name).string();
}

/// Unmounts for a user who is not root.
bool run_fusermount(const std::string& path) {
  std::array<std::string, 5> words{"fusermount3", "-u", "-z", "--", path};
  std::array<char*, 6> arguments{};
  for (std::size_t i = 0; i < words.size(); ++i) arguments[i] = words[i].data();
  pid_t child = 0;
  if (::posix_spawnp(&child, "fusermount3", nullptr, nullptr, arguments.data(), environ) != 0) {
    return false;
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status == 0;
}

void clear_dead_mount(const std::string& path) {
  if (::umount2(path.c_str(), MNT_DETACH | UMOUNT_NOFOLLOW) == 0) return;
  const int error = errno;
  if (error != EPERM || !run_fusermount(path)) {
    throw SystemError(fmt::format("clear the dead mount on {}", path), error);
  }
}

/// statx(2), after dead mounts of ours were cleared away. Not from the kernel's memory, which
/// outlives a daemon.
struct statx examine(const std::string& path, std::string& note) {
  struct statx status {};
  for (int i = 0; i < kMostDeadMounts; ++i) {
    const int flags = AT_STATX_FORCE_SYNC;
    if (::statx(AT_FDCWD, path.c_str(), flags, STATX_BASIC_STATS, &status) == 0) return status;
    const int error = errno;
    const auto mount = mounted_at(path);
    const bool is_ours = mount && mount->type == kMountType;
    if (is_ours && error == EACCES) {
      throw Error(
          fmt::format("{} is already mounted: it shows {} of another user", path, mount->source));
    }
    // The first who asks a daemon that has just died gets ECONNABORTED.
    if (!is_ours || (error != ENOTCONN && error != ECONNABORTED)) {
      throw SystemError(fmt::format("examine mount point {}", path), error);
    }
    clear_dead_mount(path);
    note = fmt::format("cleared a dead mount of {} from {}", mount->source, path);
  }
  throw Error(fmt::format("cannot mount on {}: dead mounts keep coming up there", path));
}

void expect_empty_directory(const std::string& path) {
  std::error_code error;
  const std::filesystem::directory_iterator entries(path, error);
  if (error) throw SystemError(fmt::format("read mount point {}", path), error.value());
  if (entries != std::filesystem::directory_iterator()) {
    throw Error(fmt::format("mount point {} is not empty; use an empty directory or file", path));
  }
}

void expect_empty_file(const std::string& path, const struct statx& status) {
  if (status.stx_size == 0) return;
  throw Error(fmt::format(
      "mount point {} is not empty: it is a file with {} bytes in it; use an empty file or "
      "directory",
      path, status.stx_size));
}

/// Others who are about to mount there find it locked. A mount point that may not be opened has no
/// lock.
UniqueFd lock_mount_point(const std::string& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (fd && ::flock(fd.get(), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    throw Error(fmt::format("something else is just being mounted on {}", path));
  }
  return fd;
}

}  // namespace

void clear_left_mount(const std::string& path) {
  const auto mount = mounted_at(path);
  if (mount && mount->type == kMountType) clear_dead_mount(path);
}

std::string MountPoint::image_path(const std::string& name) const {
  return layout == Layout::file ? path : path + "/" + name;
}

MountPoint prepare_mount_point(const std::string& argument, std::string& note) {
  MountPoint point;
  point.path = canonical_path(argument);
  const struct statx status = examine(point.path, note);
  point.lock = lock_mount_point(point.path);
  if (const auto mount = mounted_at(point.path); mount && mount->type == kMountType) {
    throw Error(fmt::format("{} is already mounted: it shows {}; unmount it first", point.path,
                            mount->source));
  }
  if (S_ISDIR(status.stx_mode)) {
    point.layout = Layout::directory;
    expect_empty_directory(point.path);
  } else if (S_ISREG(status.stx_mode)) {
    expect_empty_file(point.path, status);
  } else {
    throw Error(fmt::format("mount point {} is neither a file nor a directory", point.path));
  }
  return point;
}

}  // namespace rdmablk::fuse
