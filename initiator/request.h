#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#include "initiator/memory_keys.h"

namespace rdmablk::initiator {

enum class Operation : std::uint8_t {
  read,     ///< `length` bytes from the image into `data`
  write,    ///< `length` bytes from `data` into the image
  flush,    ///< everything that was acknowledged before is on stable storage once it completes
  zero,     ///< `length` bytes of the image become zero; has no `data`
  discard,  ///< the same, and the space that they take may be given back
  map,      ///< which parts of `length` bytes are data and which are holes; see Request::extents
};

/// One request to an image, made and owned by who submits it, and left alone from submit() until it
/// comes back from poll(). It stores nothing of the connection: addresses and keys are worked out
/// when it is posted, so that it could be posted anew on another.
struct Request {
  Operation operation = Operation::read;
  std::uint64_t offset = 0;          ///< bytes from the start of the image; any alignment
  std::uint64_t length = 0;          ///< bytes; offset + length must not exceed the image's size
  std::byte* data = nullptr;         ///< within the queue's RequestBuffers, any alignment
  const MemoryKeys* keys = nullptr;  ///< RequestBuffers::keys()
  bool durable = false;              ///< write, zero, discard: on stable storage once it completes

  /// map: how many extents are wanted at most, and then how many protocol::Extent lie in `data`,
  /// one at least. They begin at `offset` and may end before the range does. `data` is aligned to
  /// 8 bytes and has room for as many, or for protocol::kMaxExtents if that is less.
  std::uint32_t extents = 0;

  int error = 0;  ///< how it ended: 0, or an errno value (EIO, ENOSPC, EOPNOTSUPP, EROFS)

  /// Whether posted_at is wanted: to look at the clock may take longer than all else (in a
  /// user-mode kernel it is a system call).
  bool is_timed = false;

  /// For the queue that works on it, from submit() to poll().
  struct Progress {
    std::uint64_t posted = 0;       ///< bytes posted to the device; a flush: its number
    std::uint32_t outstanding = 0;  ///< work requests or pieces that have not completed
    std::uint32_t refusals = 0;     ///< times that a device would not do it; see refusal.h
    Request* next = nullptr;

    /// When it was first posted on the connection that it is on, if it is timed; the epoch: not
    /// yet.
    std::chrono::steady_clock::time_point posted_at{};

    /// For posting all of it, for the first time or anew.
    void restart() noexcept {
      posted = 0;
      outstanding = 0;
      posted_at = {};
    }
  } progress;
};

/// What a request's memory is called on a device of its session.
inline std::uint32_t lkey_on(unsigned device, const Request& request) noexcept {
  return request.keys == nullptr ? 0 : request.keys->on(device);
}

/// Whether a request changes what the image has.
inline bool changes_data(const Request& request) noexcept {
  switch (request.operation) {
    case Operation::write:
    case Operation::zero:
    case Operation::discard:
      return request.length > 0;
    default:
      return false;
  }
}

}  // namespace rdmablk::initiator
