#pragma once

#include "common/unique_fd.h"
#include "initiator/cli/mapping/map_place.h"

namespace rdmablk::cli::mapping {

/// Keeps others from changing a map, by a lock on its directory (flock(2)); it goes with the
/// process that holds it.
class MapLock {
 public:
  /// Makes the directory when it is not there, and waits for who else has it. Throws SystemError.
  static MapLock make(const MapPlace& place);

  /// For a map that is there. @return one that holds nothing when it is not, or is just taken away.
  static MapLock take(const MapPlace& place);

  explicit operator bool() const noexcept { return static_cast<bool>(fd_); }

 private:
  explicit MapLock(UniqueFd fd) noexcept : fd_(std::move(fd)) {}

  UniqueFd fd_;
};

}  // namespace rdmablk::cli::mapping
