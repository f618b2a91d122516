#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

#include "common/softverbs/file_descriptor.h"

namespace softverbs {

using Clock = std::chrono::steady_clock;

/// Queue pairs that want to be called at a time, behind a timerfd. Thread-safe.
class TimerQueue {
 public:
  /// Throws std::system_error.
  TimerQueue();
  [[nodiscard]] int fd() const { return fd_.get(); }

  void schedule(uint32_t qpn, Clock::time_point when);
  /// Takes what is due and sets the descriptor for what is next.
  std::vector<uint32_t> take_due();
  /// For a forked child.
  void close() { fd_.reset(); }

 private:
  void set(Clock::time_point when);

  FileDescriptor fd_;
  std::mutex mutex_;
  std::multimap<Clock::time_point, uint32_t> waiting_;
};

}  // namespace softverbs
