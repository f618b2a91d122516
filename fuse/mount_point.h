#pragma once

#include <string>

#include "common/unique_fd.h"
#include "fuse/image_node.h"

namespace rdmablk::fuse {

/// The type of our mounts in /proc/self/mountinfo.
inline constexpr const char* kMountType = "fuse.rdmablk";

/// A place that can be mounted on: an empty file, or an empty directory.
struct MountPoint {
  std::string path;  ///< absolute, without symbolic links
  Layout layout = Layout::file;
  UniqueFd
      lock;  ///< keeps others from mounting there at the same time; of no use once it is mounted

  /// Where the image will be.
  /// @param name of the image's file, if the mount point is a directory.
  std::string image_path(const std::string& name) const;
};

/// Clears away a mount of ours on a path whose daemon is gone, if there is one. Throws SystemError.
void clear_left_mount(const std::string& path);

/// Examines what the user names as mount point. A mount of ours whose daemon is gone is cleared
/// away first, which `note` tells. Throws Error when it is missing, in use or not empty.
/// @param note a line for the user; left alone when there is nothing to say.
MountPoint prepare_mount_point(const std::string& argument, std::string& note);

}  // namespace rdmablk::fuse
