#pragma once

#include <fuse3/fuse_lowlevel.h>
#include <linux/fuse.h>

#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "initiator/request.h"

namespace rdmablk::fuse {

/// The longest read or write that the kernel sends, in bytes.
inline constexpr std::size_t kMaxPayload = std::size_t{1} << 20U;

/// What a slot has in front of its payload, in bytes: a page, so that the payload is aligned to
/// one. The kernel's message begins so far before its end that the payload of a WRITE, which
/// follows two headers, falls into its place by itself.
inline constexpr std::size_t kSlotHeader = 4096;
inline constexpr std::size_t kWriteHeaders = sizeof(fuse_in_header) + sizeof(fuse_write_in);

/// Bytes of memory of one slot.
inline constexpr std::size_t kSlotSize = kSlotHeader + kMaxPayload;

/// Room for one request of the kernel in request buffers: its message is read into it, and a READ's
/// data is answered from it. It is the request that a queue works on, too.
struct Slot : initiator::Request {
  fuse_req_t fuse_request = nullptr;  ///< what is to be answered; null when there is none
  std::byte* memory = nullptr;        ///< kSlotSize bytes
  Slot* next = nullptr;               ///< of a free slot
  bool seeks_hole = false;            ///< a map: looks for a hole, not for data
  bool interrupted = false;           ///< whoever waits for it wants to be let go
  std::uint64_t number = 0;           ///< the kernel's, of the request; never used twice
  std::chrono::steady_clock::time_point taken_at{};      ///< a worker has read it
  std::chrono::steady_clock::time_point submitted_at{};  ///< a queue has got it
  std::uint64_t covers = 0;  ///< a flush: UnsyncedWrites::count() before it

  /// taken_at, in ticks of its clock, until it is answered; 0 when there is no request. For other
  /// threads, which read it at any time.
  std::atomic<std::chrono::steady_clock::rep> waits_since = 0;

  /// What is to be answered, now; there is no request any more.
  fuse_req_t take_request() noexcept {
    waits_since.store(0, std::memory_order_relaxed);
    return std::exchange(fuse_request, nullptr);
  }

  /// A worker has read it.
  void begin(std::chrono::steady_clock::time_point now) noexcept {
    taken_at = now;
    waits_since.store(now.time_since_epoch().count(), std::memory_order_relaxed);
  }

  /// Becomes the request in another slot, but for its data.
  void take_over(Slot& other) noexcept {
    operation = other.operation;
    offset = other.offset;
    length = other.length;
    durable = other.durable;
    extents = other.extents;
    error = 0;
    fuse_request = other.take_request();
    seeks_hole = other.seeks_hole;
    interrupted = other.interrupted;
    number = other.number;
    begin(other.taken_at);
    covers = other.covers;
  }

  /// What every message of the kernel begins with.
  const fuse_in_header& header() const noexcept {
    return *reinterpret_cast<const fuse_in_header*>(message());
  }

  /// Where a message of the kernel goes, and its room.
  std::byte* message() const noexcept { return memory + kSlotHeader - kWriteHeaders; }
  static constexpr std::size_t kMessageRoom = kWriteHeaders + kMaxPayload;

  /// kMaxPayload bytes, aligned to a page.
  std::byte* payload() const noexcept { return memory + kSlotHeader; }
};

}  // namespace rdmablk::fuse
