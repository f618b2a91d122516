#pragma once

#include <cstddef>

#include "fuse/operations.h"

namespace rdmablk::fuse {

/// Answers who asks what is mounted (common/mount_image.h).
/// @param size bytes that the asker has room for.
void tell_image(fuse_req_t request, const FileSystem& file_system, std::size_t size);

}  // namespace rdmablk::fuse
