#include "initiator/cli/mapping/map_lock.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <utility>

#include "common/error.h"

namespace rdmablk::cli::mapping {
namespace {

UniqueFd open_directory(const MapPlace& place) {
  return UniqueFd(::open(place.directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
}

void lock(const UniqueFd& fd, const MapPlace& place) {
  while (::flock(fd.get(), LOCK_EX) != 0) {
    if (errno != EINTR) throw SystemError(fmt::format("lock {}", place.directory), errno);
  }
}

/// Whoever held the lock may have removed the directory.
bool is_in_place(const UniqueFd& fd, const MapPlace& place) {
  struct stat held {};
  struct stat named {};
  return ::fstat(fd.get(), &held) == 0 && ::stat(place.directory.c_str(), &named) == 0 &&
         held.st_ino == named.st_ino && held.st_dev == named.st_dev;
}

}  // namespace

MapLock MapLock::make(const MapPlace& place) {
  while (true) {
    std::error_code error;
    std::filesystem::create_directories(place.directory, error);
    if (error) throw SystemError(fmt::format("make {}", place.directory), error.value());
    UniqueFd fd = open_directory(place);
    if (!fd) {
      if (errno == ENOENT) continue;  // it was just removed
      throw SystemError(fmt::format("open {}", place.directory), errno);
    }
    lock(fd, place);
    if (is_in_place(fd, place)) return MapLock(std::move(fd));
  }
}

MapLock MapLock::take(const MapPlace& place) {
  UniqueFd fd = open_directory(place);
  if (!fd) return MapLock(UniqueFd());
  lock(fd, place);
  return MapLock(is_in_place(fd, place) ? std::move(fd) : UniqueFd());
}

}  // namespace rdmablk::cli::mapping
