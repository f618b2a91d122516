#include "initiator/backoff.h"

#include <algorithm>

namespace rdmablk::initiator {

void Backoff::lost(Clock::time_point now, std::chrono::milliseconds longest) {
  if (now - since_ <= std::max(pause_, kFirst)) return failed(now, longest);
  pause_ = {};
  next_ = now;
}

void Backoff::failed(Clock::time_point now, std::chrono::milliseconds longest) {
  pause_ = std::min(std::max(2 * pause_, kFirst), longest);
  const auto most = std::chrono::nanoseconds(pause_).count();
  std::uniform_int_distribution<std::chrono::nanoseconds::rep> choose(most - most / 4, most);
  next_ = now + std::chrono::nanoseconds(choose(random_));
}

void Backoff::limit(Clock::time_point now, std::chrono::milliseconds longest) noexcept {
  pause_ = std::min(pause_, longest);
  next_ = std::min<Clock::time_point>(next_, now + longest);
}

}  // namespace rdmablk::initiator
