#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

namespace rdmablk::fuse {

/// Whether there are writes that were acknowledged and that no flush has covered since. Workers
/// count on their own, and share nothing for a write.
class UnsyncedWrites {
 public:
  explicit UnsyncedWrites(unsigned workers) : counters_(workers) {}

  /// Counts a write. By the worker that is about to acknowledge it.
  void add(unsigned worker) noexcept {
    std::atomic<std::uint64_t>& count = counters_[worker].count;
    count.store(count.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// How many there were: what a flush that is submitted now will cover. Any thread.
  std::uint64_t count() const noexcept {
    std::uint64_t sum = 0;
    for (const Counter& counter : counters_) sum += counter.count.load(std::memory_order_acquire);
    return sum;
  }

  /// A flush has succeeded. @param covered count() when it was submitted. Any thread.
  void flushed(std::uint64_t covered) noexcept {
    std::uint64_t before = flushed_.load();
    while (before < covered && !flushed_.compare_exchange_weak(before, covered)) {
    }
  }

  /// Any thread.
  bool any() const noexcept { return count() != flushed_.load(); }

 private:
  struct alignas(64) Counter {
    std::atomic<std::uint64_t> count = 0;
  };

  std::vector<Counter> counters_;
  std::atomic<std::uint64_t> flushed_ = 0;
};

}  // namespace rdmablk::fuse
