#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "fuse/slot_pool.h"

namespace rdmablk::fuse {

/// What the workers of a mount are working on, seen from outside: nobody stops for it, and it costs
/// a request nothing but two stores. So it is a little blurred: a request that moves from the
/// waiting room to a slot may be seen twice, or not at all.
class Activity {
 public:
  using Clock = std::chrono::steady_clock;

  struct Seen {
    std::size_t in_flight = 0;                ///< requests that are not answered
    std::size_t waiting = 0;                  ///< of these: in waiting rooms
    std::optional<Clock::time_point> oldest;  ///< when the oldest of them was read
  };

  /// Has the requests of a worker looked at. Before the first look(), by one thread.
  /// @param slots, waiting_room of the worker; not used after its mount has ended.
  void watch(const SlotPool& slots, const SlotPool& waiting_room);

  /// Any thread.
  Seen look() const noexcept;

 private:
  std::vector<const SlotPool*> slots_;
  std::vector<const SlotPool*> waiting_rooms_;
};

}  // namespace rdmablk::fuse
