#include "target/file_probe.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>

#include "common/error.h"
#include "common/unique_fd.h"
#include "target/backing_file.h"
#include "target/file_opening.h"

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

}  // namespace

void check_writable_directory(const std::string& path, const std::string& doing) {
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return;
  throw Error(fmt::format("cannot {} in {}: {}", doing, path, errno_text(errno)));
}

std::string probe_export_file(const ExportSpec& spec) {
  struct stat status {};
  if (::stat(spec.path.c_str(), &status) != 0) {
    if (errno != ENOENT) fail_to_open(spec, errno);
    check_may_create(spec);
    check_writable_directory(directory_of(spec.path),
                             fmt::format("make the file of export '{}'", spec.name));
    return fmt::format("its file {} can be made", spec.path);
  }
  check_file_kind(spec, status.st_mode);
  const OpenedFile file = open_to_look(spec, status.st_mode);
  check_protection(spec, file);
  choose_direct(spec, file.fd.get(), checked_size(spec, file));
  return fmt::format("its file {} can be read{}", spec.path, spec.read_only ? "" : " and written");
}

std::string probe_save_file(const ExportSpec& spec) {
  check_writable_directory(directory_of(spec.save), fmt::format("save export '{}'", spec.name));
  const UniqueFd fd(::open(spec.save.c_str(), O_RDWR | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!fd && errno != ENOENT) {
    throw Error(
        fmt::format("cannot save export '{}' to {}: {}", spec.name, spec.save, errno_text(errno)));
  }
  return fmt::format("it can be saved to {}", spec.save);
}

}  // namespace rdmablk::target
