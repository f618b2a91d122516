#pragma once

#include <sys/ioctl.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "common/mount_control.h"

/// How a mount is asked what it shows: an ioctl(2) as those of common/mount_control.h, on the mount
/// point, by the same users. It is answered while the target is away, too.
namespace rdmablk::mount_image {

struct Image {
  static constexpr std::uint32_t kVersion = 1;

  std::uint32_t version;
  std::uint32_t read_only;   ///< 1: the export was attached for reading alone
  std::uint64_t size;        ///< bytes
  std::uint32_t block_size;  ///< bytes: the alignment that is served best
  std::uint32_t reserved;
  std::array<std::byte, 16> uuid;  ///< of the export; zeroes when it has none
};

static_assert(sizeof(Image) == 40);

inline constexpr unsigned kGetImage = _IOR(mount_control::kType, 16, Image);

}  // namespace rdmablk::mount_image
