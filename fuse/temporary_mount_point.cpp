#include "fuse/temporary_mount_point.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <utility>

#include "common/error.h"

namespace rdmablk::fuse {

TemporaryMountPoint::TemporaryMountPoint(bool is_needed) {
  if (!is_needed) return;
  const char* const directory = std::getenv("TMPDIR");
  const bool is_given = directory != nullptr && *directory != '\0';
  std::string pattern = fmt::format("{}/rdmablk-XXXXXX", is_given ? directory : "/tmp");
  if (::mkdtemp(pattern.data()) == nullptr) {
    throw SystemError(fmt::format("make a mount point {}", pattern), errno);
  }
  path_ = std::move(pattern);
}

TemporaryMountPoint::~TemporaryMountPoint() {
  if (!path_.empty()) ::rmdir(path_.c_str());
}

}  // namespace rdmablk::fuse
