#pragma once

#include <algorithm>
#include <chrono>

namespace rdmablk::fuse {

/// How long a thread that found nothing to do looks again before it sleeps.
///
/// To fall asleep and to be woken takes longer than many a request; but a look that finds nothing
/// takes the processor from those that have something to do. So it looks for as long as the limit
/// says while that pays, that is while work comes back within the limit, and less and less, down
/// to not at all, when work is longer in coming. A thread that does not look still sees how long
/// work was in coming, and begins again when that gets short. Used by one thread.
class Spin {
 public:
  using Clock = std::chrono::steady_clock;

  /// What falling asleep and waking up may add to the time that work was in coming.
  static constexpr std::chrono::microseconds kWakeUp{20};

  /// @param limit of the time to look for; 0: never.
  explicit Spin(Clock::duration limit) noexcept : limit_(limit), time_(limit) {}

  /// There was something to do.
  void found(Clock::time_point now) noexcept {
    if (is_idle_) adapt(now - last_found_);
    is_idle_ = false;
    last_found_ = now;
  }

  /// There was nothing to do. @return whether to look again, not to sleep.
  bool goes_on(Clock::time_point now) noexcept {
    is_idle_ = true;
    return now - last_found_ < time_;
  }

  /// How long it looks at present.
  Clock::duration time() const noexcept { return time_; }

 private:
  void adapt(Clock::duration gap) noexcept {
    if (gap <= limit_ + kWakeUp) {
      time_ = std::min(limit_, std::max(2 * time_, limit_ / 4));
    } else {
      time_ = time_ > limit_ / 8 ? time_ / 2 : Clock::duration::zero();
    }
  }

  Clock::duration limit_;
  Clock::duration time_;
  Clock::time_point last_found_{};
  bool is_idle_ = false;
};

}  // namespace rdmablk::fuse
