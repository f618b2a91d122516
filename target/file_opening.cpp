#include "target/file_opening.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "common/error.h"
#include "common/mount_table.h"
#include "common/units.h"

namespace rdmablk::target {
namespace {

int open_flags(const ExportSpec& spec) {
  return (spec.read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOCTTY;
}

/// Where a block device is mounted; empty: nowhere that shows.
std::string mount_point_of(dev_t device) {
  const auto number = fmt::format("{}:{}", major(device), minor(device));
  const auto mounts = read_mount_table();
  const auto found = std::find_if(mounts.begin(), mounts.end(),
                                  [&](const MountEntry& mount) { return mount.device == number; });
  return found == mounts.end() ? std::string{} : found->path;
}

UniqueFd open_device(const ExportSpec& spec, dev_t device, const Patience& patience) {
  const int flags = open_flags(spec) | (spec.read_only ? 0 : O_EXCL);
  while (true) {
    UniqueFd fd(::open(spec.path.c_str(), flags));
    if (fd) return fd;
    if (errno != EBUSY) fail_to_open(spec, errno);
    const auto mount = mount_point_of(device);
    if (!mount.empty()) fail_export(spec, fmt::format("it is mounted at '{}'", mount));
    if (!patience.wait()) {
      fail_export(spec, "another program or export, or the kernel (mount, swap, RAID), uses it");
    }
  }
}

/// @return nothing when there is no such file.
std::optional<OpenedFile> open_existing(const ExportSpec& spec, const Patience& patience) {
  struct stat status {};
  // Asked first: to open a device can have effects.
  if (::stat(spec.path.c_str(), &status) != 0) {
    if (errno == ENOENT) return std::nullopt;
    fail_to_open(spec, errno);
  }
  check_file_kind(spec, status.st_mode);
  OpenedFile file;
  if (S_ISBLK(status.st_mode)) {
    file.fd = open_device(spec, status.st_rdev, patience);
  } else {
    file.fd.reset(::open(spec.path.c_str(), open_flags(spec)));
    if (!file.fd && errno == ENOENT) return std::nullopt;
    if (!file.fd) fail_to_open(spec, errno);
  }
  if (::fstat(file.fd.get(), &status) != 0) fail_to_open(spec, errno);
  check_file_kind(spec, status.st_mode);
  file.block_device = S_ISBLK(status.st_mode);
  return file;
}

/// @return nothing when there is such a file now.
std::optional<OpenedFile> create(const ExportSpec& spec) {
  check_may_create(spec);
  const std::filesystem::path path(spec.path);
  UniqueFd directory(::open(path.parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!directory) {
    fail_export(spec, fmt::format("cannot open its directory: {}", errno_text(errno)));
  }
  OpenedFile file;
  const auto name = path.filename().string();
  file.fd.reset(::openat(directory.get(), name.c_str(), open_flags(spec) | O_CREAT | O_EXCL, 0600));
  if (!file.fd) {
    if (errno == EEXIST) return std::nullopt;
    fail_export(spec, fmt::format("cannot make it: {}", errno_text(errno)));
  }
  file.created.emplace(file.fd.get(), std::move(directory), name);
  return file;
}

/// @return an errno value.
int allocate(int fd, off_t size) {
  while (::fallocate(fd, 0, 0, size) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

[[noreturn]] void fail_to_fill(const ExportSpec& spec, int error) {
  const char* hint = "";
  if (error == EOPNOTSUPP) hint = "; 'sparse' makes it without";
  if (error == ENOSPC || error == EDQUOT) hint = "; 'sparse' allocates when it is written";
  fail_export(spec, fmt::format("cannot {} {} for it: {}{}", spec.sparse ? "set" : "allocate",
                                format_size(*spec.file_size), errno_text(error), hint));
}

}  // namespace

void fail_export(const ExportSpec& spec, std::string_view why) {
  throw Error(fmt::format("cannot export '{}' as '{}': {}", spec.path, spec.name, why));
}

void fail_to_open(const ExportSpec& spec, int error) {
  const bool unwritable = error == EACCES || error == EPERM || error == EROFS || error == ETXTBSY;
  fail_export(
      spec,
      fmt::format(
          "cannot open it{}: {}{}", spec.read_only ? "" : " for writing", errno_text(error),
          unwritable && !spec.read_only ? "; 'readonly' exports what is only to be read" : ""));
}

void check_file_kind(const ExportSpec& spec, mode_t mode) {
  if (S_ISREG(mode) || S_ISBLK(mode)) return;
  fail_export(spec, fmt::format("it is a {}: a regular file or a block device can be exported",
                                S_ISDIR(mode)    ? "directory"
                                : S_ISCHR(mode)  ? "character device"
                                : S_ISFIFO(mode) ? "pipe"
                                                 : "socket"));
}

void check_may_create(const ExportSpec& spec) {
  if (spec.read_only) fail_export(spec, "there is no such file");
  if (!spec.file_size) fail_export(spec, "there is no such file; size=SIZE makes it");
}

CreatedFile::~CreatedFile() {
  if (!directory_) return;
  // What somebody has put in its place meanwhile stays.
  struct stat ours {};
  struct stat named {};
  if (::fstat(fd_, &ours) != 0) return;
  if (::fstatat(directory_.get(), name_.c_str(), &named, AT_SYMLINK_NOFOLLOW) != 0) return;
  if (ours.st_dev != named.st_dev || ours.st_ino != named.st_ino) return;
  ::unlinkat(directory_.get(), name_.c_str(), 0);
}

void CreatedFile::fill(const ExportSpec& spec) const {
  const auto size = static_cast<off_t>(*spec.file_size);
  const int error = spec.sparse ? (::ftruncate(fd_, size) == 0 ? 0 : errno) : allocate(fd_, size);
  if (error != 0) fail_to_fill(spec, error);
  if (::fsync(fd_) != 0 || ::fsync(directory_.get()) != 0) {
    fail_export(spec, fmt::format("cannot bring it to stable storage: {}", errno_text(errno)));
  }
}

OpenedFile open_export_file(const ExportSpec& spec, const Patience& patience) {
  if (auto file = open_existing(spec, patience)) return std::move(*file);
  if (auto file = create(spec)) return std::move(*file);
  // Somebody else has just made it.
  if (auto file = open_existing(spec, patience)) return std::move(*file);
  fail_export(spec, "it is a symbolic link to a file that is missing");
}

}  // namespace rdmablk::target
