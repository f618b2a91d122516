#pragma once

#include <chrono>
#include <string>

#include "common/log_limiter.h"
#include "fuse/slot.h"

namespace rdmablk::fuse {

/// How a request ended, and when.
struct SlowRequest {
  using Clock = std::chrono::steady_clock;

  const Slot& slot;
  int error;                       ///< 0 or an errno value
  Clock::time_point completed_at;  ///< it came back from the queue
  Clock::time_point answered_at;   ///< the kernel had its answer

  /// What it is, and where its time has gone, for people.
  std::string text() const;
};

/// Logs requests that took longer than they may, some at a time. What is counted begins when a
/// worker has read the request: how long it waited in the kernel before, nobody says. Used by one
/// thread.
class SlowLog {
 public:
  using Clock = SlowRequest::Clock;

  /// Lines in LogLimiter::kWindow.
  static constexpr unsigned kLines = 4;

  /// @param limit that is still fast enough; 0: all are.
  explicit SlowLog(Clock::duration limit) noexcept
      : limit_(limit > Clock::duration::zero() ? limit : Clock::duration::max()) {}

  bool is_on() const noexcept { return limit_ != Clock::duration::max(); }
  bool is_slow(Clock::duration time) const noexcept { return time > limit_; }
  void tell(const SlowRequest& request) noexcept;

 private:
  Clock::duration limit_;
  LogLimiter limiter_{kLines};
};

}  // namespace rdmablk::fuse
