#include "target/range_lock.h"

#include <algorithm>
#include <iterator>

namespace rdmablk::target {
namespace {

bool overlap(const RangeLock::Hold& one, const RangeLock::Hold& other) noexcept {
  return one.begin < other.end && other.begin < one.end;
}

}  // namespace

bool RangeLock::acquire(Hold& hold) noexcept {
  const std::lock_guard lock(mutex_);
  if (is_free(hold, waiting_.end())) {
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
    for (auto place = waiting_.begin(); place != waiting_.end();) {
      Hold& next = *place;
      if (!overlap(next, hold) || !is_free(next, place)) {
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

/// Whether a request at this place in the line has nothing before it that it overlaps.
bool RangeLock::is_free(const Hold& hold, Waiting::const_iterator place) const noexcept {
  const auto behind = held_.lower_bound(hold.end);
  if (behind != held_.begin() && std::prev(behind)->end > hold.begin) return false;
  return std::none_of(waiting_.begin(), place,
                      [&](const Hold& earlier) { return overlap(earlier, hold); });
}

}  // namespace rdmablk::target
