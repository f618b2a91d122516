#pragma once

#include <cstdint>
#include <string>

namespace rdmablk::target {

/// What direct I/O (open(2), O_DIRECT) on a file needs.
struct DirectSupport {
  /// Bytes that offsets and lengths are multiples of, a power of two from 512 to 65536; memory
  /// needs this or a page, whichever is less. Zero: there is no direct I/O.
  std::uint32_t block = 0;
  std::string reason;  ///< why there is none: "the file system takes no direct I/O"
};

/// Tries to switch the descriptor to direct I/O. When that is impossible, also because the size
/// is no multiple of the block, the descriptor is buffered as before.
/// @param fd of a regular file or block device, open for reading.
/// @param size of the file, in bytes.
/// Throws SystemError when the descriptor cannot be asked.
DirectSupport enable_direct_io(int fd, std::uint64_t size);

}  // namespace rdmablk::target
