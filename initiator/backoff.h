#pragma once

#include <chrono>
#include <random>

namespace rdmablk::initiator {

/// When to try again: at once after a loss, and then after pauses that double up to a longest one.
/// Each pause is up to a quarter shorter than that, by chance, so that those who lost the same
/// target do not all come back at the same moment.
class Backoff {
 public:
  using Clock = std::chrono::steady_clock;

  /// The first pause.
  static constexpr std::chrono::milliseconds kFirst{50};

  explicit Backoff(std::uint32_t seed) : random_(seed) {}

  /// When the next attempt is due.
  Clock::time_point next() const noexcept { return next_; }

  /// What worked was lost. A connection that did not outlive the pause before it counts as one more
  /// attempt that failed.
  void lost(Clock::time_point now, std::chrono::milliseconds longest);

  /// An attempt failed.
  void failed(Clock::time_point now, std::chrono::milliseconds longest);

  /// An attempt succeeded.
  void succeeded(Clock::time_point now) noexcept { since_ = now; }

  /// The longest pause is another one now: the one under way does not exceed it.
  void limit(Clock::time_point now, std::chrono::milliseconds longest) noexcept;

 private:
  std::minstd_rand random_;
  std::chrono::milliseconds pause_{};  ///< before the last attempt; zero: it came at once
  Clock::time_point next_{};
  Clock::time_point since_{};  ///< when the last attempt succeeded
};

}  // namespace rdmablk::initiator
