#pragma once

#include <algorithm>
#include <chrono>
#include <thread>

namespace rdmablk::target {

/// A point in time until which something that another holds is asked for again, for what nothing
/// announces the end of.
class Patience {
 public:
  using Clock = std::chrono::steady_clock;

  explicit Patience(std::chrono::milliseconds wait) : end_(Clock::now() + wait) {}

  /// Sleeps a little. @return false, at once, when the time is over.
  bool wait() const {
    constexpr std::chrono::milliseconds kPause{20};
    const auto left = end_ - Clock::now();
    if (left <= Clock::duration::zero()) return false;
    std::this_thread::sleep_for(std::min<Clock::duration>(left, kPause));
    return true;
  }

 private:
  Clock::time_point end_;
};

}  // namespace rdmablk::target
