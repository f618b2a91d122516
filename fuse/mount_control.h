#pragma once

#include <fuse3/fuse_lowlevel.h>

#include <cstddef>

namespace rdmablk::fuse {

/// The operation behind common/mount_control.h, for the image and the directory around it.
/// Answered at once, by whichever worker reads it.
void control(fuse_req_t request, fuse_ino_t ino, unsigned command, void* argument,
             fuse_file_info* file, unsigned flags, const void* input, std::size_t input_size,
             std::size_t output_size);

}  // namespace rdmablk::fuse
