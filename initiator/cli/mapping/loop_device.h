#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "common/unique_fd.h"

namespace rdmablk::cli::mapping {

/// What a loop device is to be like (loop(4)).
struct LoopSettings {
  std::string image;             ///< path of the file behind it
  std::string label;             ///< what losetup shows as its name; cut to 63 bytes
  std::uint32_t block_size = 0;  ///< bytes, a power of two from 512 to a page
  bool read_only = false;
};

/// A block size for an image: the best one that the kernel takes and the image is a multiple of.
/// @param wanted of the image, bytes.
std::uint32_t loop_block_size(std::uint64_t size, std::uint32_t wanted);

/// Puts a loop device with direct I/O on a file.
/// @param choose is called with the name of each device, "loop3", that will be tried, before it is.
/// @return the name of the device. Throws SystemError.
std::string attach_loop(const LoopSettings& settings,
                        const std::function<void(const std::string&)>& choose);

/// The path of the file behind a loop device, as the kernel shows it: "/" when that is a mount that
/// was taken out of sight. Asks neither the device nor the file.
/// @return nothing when there is none.
std::optional<std::string> loop_backing_file(const std::string& device);

/// Bytes; 0 when there is no such device.
std::uint64_t loop_size(const std::string& device);

/// Whether it reads and writes past the page cache.
bool loop_is_direct(const std::string& device);

/// Opens a device so that nobody else can mount it, or hold it otherwise.
/// @return nothing when somebody does. Throws SystemError.
UniqueFd open_exclusively(const std::string& device);

/// Opens a device, whoever else has it open. Throws SystemError.
UniqueFd open_device(const std::string& device);

/// Takes the file away from a loop device, once who has it open has closed it.
/// @param device open, of a loop device; closed when this returns. Throws SystemError.
void detach_loop(UniqueFd device);

/// Has udev look at a device anew.
void announce(const std::string& device) noexcept;

}  // namespace rdmablk::cli::mapping
