#include "target/file_probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

#include "common/error.h"
#include "common/unique_fd.h"
#include "common/units.h"
#include "target/backing_file.h"
#include "target/direct_io.h"
#include "target/file_lock.h"
#include "target/file_opening.h"
#include "target/save_place.h"

namespace rdmablk::target {
namespace {

std::string directory_of(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  return parent.empty() ? "." : parent.string();
}

/// Without O_EXCL: a block device may be in use by the target that runs.
OpenedFile open_to_look(const ExportSpec& spec, mode_t mode) {
  OpenedFile file;
  const int flags = (spec.read_only ? O_RDONLY : O_RDWR) | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  file.fd.reset(::open(spec.path.c_str(), flags));
  if (!file.fd) fail_to_open(spec, errno);
  file.block_device = S_ISBLK(mode);
  return file;
}

/// Of a file that is to be made with all of its space.
void check_space(const ExportSpec& spec) {
  struct statvfs system {};
  if (spec.sparse || ::statvfs(directory_of(spec.path).c_str(), &system) != 0) return;
  const std::uint64_t space = std::uint64_t{system.f_bavail} * system.f_frsize;
  if (space >= *spec.file_size) return;
  fail_export(spec, fmt::format("it is to have {}, and its file system has {} left; 'sparse' "
                                "allocates when it is written",
                                format_size(*spec.file_size), format_size(space)));
}

ProbedFile probe_missing(const ExportSpec& spec) {
  struct stat link {};
  if (::lstat(spec.path.c_str(), &link) == 0) {
    fail_export(spec, "it is a symbolic link to a file that is missing");
  }
  check_may_create(spec);
  check_writable_directory(directory_of(spec.path),
                           fmt::format("make the file of export '{}'", spec.name));
  check_space(spec);
  return {fmt::format("its file {} can be made", spec.path), *spec.file_size};
}

/// For people: what is to be said of a lock.
const char* describe_lock(const ExportSpec& spec, int fd) {
  switch (probe_lock(fd, spec.read_only)) {
    case LockOutcome::unsupported:
      fail_export(spec, "its file system takes no locks, so that nothing keeps others away");
    case LockOutcome::held:
      return ", once who has locked it lets go: a target that runs, or another program";
    default:
      return "";
  }
}

/// What a save begins in is made where nothing else may lie.
void check_beginning(const ExportSpec& spec) {
  const std::string path = SavePlace::beginning_of(spec.save);
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode)) return;
  throw Error(fmt::format("cannot save export '{}' to {}: {} is in the way, and no regular file",
                          spec.name, spec.save, path));
}

/// What was saved is loaded at the start, unless a target that runs has it in memory.
void check_saved(const ExportSpec& spec, int fd) {
  struct stat status {};
  if (::fstat(fd, &status) != 0 || probe_lock(fd, false) == LockOutcome::held) return;
  const auto fail = [&](const std::string& why) {
    throw Error(fmt::format("export '{}' cannot be loaded from {}: {}", spec.name, spec.save, why));
  };
  if (!S_ISREG(status.st_mode)) fail("it is no regular file");
  if (static_cast<std::uint64_t>(status.st_size) == spec.size) return;
  fail(
      fmt::format("it has {} bytes, and the export {}: give it the size of what was saved, or "
                  "another file",
                  status.st_size, spec.size));
}

}  // namespace

void check_writable_directory(const std::string& path, const std::string& doing) {
  int error = 0;
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) != 0) error = errno;
  struct stat status {};
  if (error == 0 && ::stat(path.c_str(), &status) == 0 && !S_ISDIR(status.st_mode)) error = ENOTDIR;
  if (error == 0) return;
  throw Error(fmt::format("cannot {} in {}: {}", doing, path, errno_text(error)));
}

ProbedFile probe_export_file(const ExportSpec& spec) {
  struct stat status {};
  if (::stat(spec.path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail_to_open(spec, errno);
    return probe_missing(spec);
  }
  check_file_kind(spec, status.st_mode);
  const OpenedFile file = open_to_look(spec, status.st_mode);
  const char* const lock = describe_lock(spec, file.fd.get());
  check_protection(spec, file);
  const std::uint64_t size = checked_size(spec, file);
  const DirectSupport direct = choose_direct(spec, file.fd.get(), size);
  return {fmt::format("its file {} can be read{}{}", spec.path,
                      spec.read_only ? "" : " and written", lock),
          size, std::max(direct.block, 1U)};
}

std::string probe_save_file(const ExportSpec& spec) {
  check_writable_directory(directory_of(spec.save), fmt::format("save export '{}'", spec.name));
  const UniqueFd fd(::open(spec.save.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd && errno != ENOENT) {
    throw Error(
        fmt::format("cannot save export '{}' to {}: {}", spec.name, spec.save, errno_text(errno)));
  }
  if (fd) check_saved(spec, fd.get());
  check_beginning(spec);
  return fmt::format("it can be saved to {}", spec.save);
}

}  // namespace rdmablk::target
