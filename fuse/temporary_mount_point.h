#pragma once

#include <string>

namespace rdmablk::fuse {

/// A directory to mount on, in $TMPDIR or /tmp, of this user alone. It goes away with the object,
/// by when nothing is mounted there.
class TemporaryMountPoint {
 public:
  /// @param is_needed whether to make one at all. Throws SystemError.
  explicit TemporaryMountPoint(bool is_needed);
  ~TemporaryMountPoint();
  TemporaryMountPoint(const TemporaryMountPoint&) = delete;
  TemporaryMountPoint& operator=(const TemporaryMountPoint&) = delete;

  /// Empty when none was needed.
  const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace rdmablk::fuse
