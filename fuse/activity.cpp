#include "fuse/activity.h"

#include <algorithm>

namespace rdmablk::fuse {
namespace {

/// @return requests in the pool.
std::size_t look_at(const SlotPool& pool, std::optional<Activity::Clock::time_point>& oldest) {
  std::size_t count = 0;
  for (const Slot& slot : pool.slots()) {
    const auto ticks = slot.waits_since.load(std::memory_order_relaxed);
    if (ticks == 0) continue;
    ++count;
    const Activity::Clock::time_point since{Activity::Clock::duration(ticks)};
    oldest = oldest ? std::min(*oldest, since) : since;
  }
  return count;
}

}  // namespace

void Activity::watch(const SlotPool& slots, const SlotPool& waiting_room) {
  slots_.push_back(&slots);
  waiting_rooms_.push_back(&waiting_room);
}

Activity::Seen Activity::look() const noexcept {
  Seen seen;
  for (const SlotPool* const pool : waiting_rooms_) seen.waiting += look_at(*pool, seen.oldest);
  seen.in_flight = seen.waiting;
  for (const SlotPool* const pool : slots_) seen.in_flight += look_at(*pool, seen.oldest);
  return seen;
}

}  // namespace rdmablk::fuse
