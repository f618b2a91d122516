#pragma once

#include <string>

namespace rdmablk::fuse {

/// Tells how to go on with a mounted image: a loop device, a file system on it, and the way back.
/// @param image path of the image's file. @param mount_point what to unmount.
std::string loop_hints(const std::string& image, const std::string& mount_point, bool read_only);

}  // namespace rdmablk::fuse
