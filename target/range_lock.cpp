#include "target/range_lock.h"

namespace rdmablk::target {
namespace {

bool overlap(const RangeLock::Hold& one, const RangeLock::Hold& other) noexcept {
  return one.begin < other.end && other.begin < one.end;
}

}  // namespace

bool RangeLock::acquire(Hold& hold) noexcept {
  const std::lock_guard lock(mutex_);
  hold.in_the_way = count_in_the_way(hold);
  if (hold.in_the_way == 0) {
    held_.insert(hold);
    return true;
  }
  waiting_.push_back(hold);
  return false;
}

void RangeLock::release(Hold& hold) noexcept {
  Waiting granted;
  {
    const std::lock_guard lock(mutex_);
    held_.erase(held_.iterator_to(hold));
    // All that overlap it came later, or it would not have been held.
    for (auto place = waiting_.begin(); place != waiting_.end();) {
      Hold& next = *place;
      if (!overlap(next, hold) || --next.in_the_way > 0) {
        ++place;
        continue;
      }
      place = waiting_.erase(place);
      held_.insert(next);
      granted.push_back(next);
    }
  }
  while (!granted.empty()) {
    Hold& next = granted.front();
    granted.pop_front();
    next.on_granted();
  }
}

/// Counted once, so that a release need not look at each pair of those who wait.
std::uint64_t RangeLock::count_in_the_way(const Hold& hold) const noexcept {
  std::uint64_t count = 0;
  for (auto held = held_.lower_bound(hold.end); held != held_.begin();) {
    if ((--held)->end <= hold.begin) break;
    ++count;
  }
  for (const Hold& earlier : waiting_) count += overlap(earlier, hold) ? 1 : 0;
  return count;
}

}  // namespace rdmablk::target
