#pragma once

#include <cstddef>
#include <cstdint>

namespace rdmablk::initiator {

enum class Operation : std::uint8_t {
  read,   ///< `length` bytes from the image into `data`
  write,  ///< `length` bytes from `data` into the image
  flush,  ///< everything that was acknowledged before is on stable storage once it completes
  zero,   ///< `length` bytes of the image become zero; has no `data`
  map,    ///< where the `length` bytes hold data and where holes: into `data`, as Extents
};

/// One request to an image, made and owned by who submits it, and left alone from submit() until it
/// comes back from poll(). It stores nothing of the connection: addresses and rkeys are worked out
/// when it is posted, so that it could be posted anew on another.
struct Request {
  Operation operation = Operation::read;
  std::uint64_t offset = 0;   ///< bytes from the start of the image; any alignment
  std::uint64_t length = 0;   ///< bytes; offset + length must not exceed the image's size
  std::byte* data = nullptr;  ///< within the queue's RequestBuffers, any alignment; map: room for
                              ///< protocol::kMaxExtents of protocol::Extent
  std::uint32_t lkey = 0;     ///< RequestBuffers::lkey()

  std::uint32_t extents = 0;  ///< map: how many are wanted at most, and then how many there are

  int error = 0;  ///< how it ended: 0, or an errno value (EIO)

  /// For the queue that works on it, from submit() to poll().
  struct Progress {
    std::uint64_t posted = 0;       ///< bytes posted to the device
    std::uint32_t outstanding = 0;  ///< work requests that have not completed
    Request* next = nullptr;
  } progress;
};

}  // namespace rdmablk::initiator
