#pragma once

#include <atomic>
#include <cstdint>

#include "common/unique_fd.h"

namespace rdmablk::cli {

/// How the threads of a benchmark tell one another where they are.
class BenchSignals {
 public:
  /// Throws SystemError.
  BenchSignals();

  /// Tells the main thread that a worker is ready to begin, or has ended.
  void report() noexcept;

  /// Readable after a report.
  int fd() const noexcept { return event_.get(); }

  /// Takes the reports that are waiting. @return how many there were.
  std::uint64_t take_reports() noexcept;

  /// Lets the workers begin.
  void begin() noexcept {
    go_.store(true, std::memory_order_release);
    go_.notify_all();
  }
  void wait_for_begin() const noexcept { go_.wait(false, std::memory_order_acquire); }

  /// Makes the workers end: they start no more requests, and wait for those in flight.
  void stop() noexcept { stop_.store(true, std::memory_order_relaxed); }
  bool stopped() const noexcept { return stop_.load(std::memory_order_relaxed); }

  /// Makes them wait no longer, either.
  void abandon() noexcept;
  bool abandoned() const noexcept { return abandon_.load(std::memory_order_relaxed); }

  /// Readable for good once they are to wait no longer.
  int abandon_fd() const noexcept { return abandon_event_.get(); }

 private:
  UniqueFd event_;
  UniqueFd abandon_event_;
  std::atomic<bool> go_ = false;
  std::atomic<bool> stop_ = false;
  std::atomic<bool> abandon_ = false;
};

}  // namespace rdmablk::cli
