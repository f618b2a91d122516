#pragma once

#include <algorithm>
#include <chrono>

namespace rdmablk::target {

/// How many messages a peer may have handled: so many a second, and as many at once after a second
/// of silence. A bucket of tokens.
class AdminRate {
 public:
  using Clock = std::chrono::steady_clock;

  /// @param rate messages a second; zero: any number.
  explicit AdminRate(unsigned rate, Clock::time_point now = Clock::now())
      : rate_(rate), tokens_(rate), filled_(now) {}

  /// Whether one more may be handled now.
  bool has_room(Clock::time_point now = Clock::now()) {
    if (rate_ == 0) return true;
    const std::chrono::duration<double> passed = now - filled_;
    tokens_ = std::min<double>(rate_, tokens_ + passed.count() * rate_);
    filled_ = now;
    return tokens_ >= 1;
  }

  /// One was handled. @param cost as how many it counts; never as more than come in a second.
  void take(unsigned cost = 1) { tokens_ -= std::min(cost, rate_); }

  /// How long until there is room for one, when there is none.
  std::chrono::milliseconds wait() const {
    const std::chrono::duration<double> left(rate_ == 0 ? 0 : (1 - tokens_) / rate_);
    return std::chrono::ceil<std::chrono::milliseconds>(std::max(left, left.zero()));
  }

 private:
  unsigned rate_;
  double tokens_;
  Clock::time_point filled_;
};

}  // namespace rdmablk::target
