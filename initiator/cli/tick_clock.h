#pragma once

#include <chrono>
#include <cstdint>

namespace rdmablk::cli {

/// Measures how long requests take by the processor's counter of time, where that counts evenly,
/// and by std::chrono::steady_clock elsewhere. Asking the latter is a system call on some machines
/// (7 us in a user-mode kernel), which would be measured along with every request. Any thread may
/// ask.
class TickClock {
 public:
  /// Finds out how fast the counter is, which takes 10 ms.
  TickClock();

  /// The time since some moment, to be compared with others of the same clock.
  std::chrono::nanoseconds now() const noexcept;

 private:
  std::uint64_t start_ = 0;
  double nanoseconds_a_tick_ = 0;  ///< 0: there is no such counter
};

}  // namespace rdmablk::cli
