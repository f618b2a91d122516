#pragma once

#include <string>

namespace rdmablk::fuse {

/// A mount, as far as the hints need to know it.
struct LoopHints {
  std::string image;            ///< path of the image's file
  std::string mount_point;      ///< what to unmount
  bool read_only = false;       ///< no file system can be made on it
  bool closed_to_root = false;  ///< another user's, without allow_other

  /// Tells the user how to go on: a loop device, a file system on it, and the way back.
  std::string text() const;
};

}  // namespace rdmablk::fuse
