#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstddef>
#include <cstdint>

namespace rdmablk::metrics {

/// What a LatencyHistogram has counted; several can be added up.
struct LatencyFigures {
  /// The buckets have upper bounds: 1, 2, 4, ... microseconds, up to 33.5 seconds; the last one has
  /// none.
  static constexpr std::size_t kBounded = 26;
  static constexpr std::size_t kBuckets = kBounded + 1;

  std::array<std::uint64_t, kBuckets> buckets{};  ///< times that fell into each, not cumulative
  std::chrono::nanoseconds sum{};

  /// The upper bound of a bucket but the last, in seconds.
  static constexpr double bound(std::size_t bucket) noexcept {
    return 1e-6 * static_cast<double>(std::uint64_t{1} << bucket);
  }

  std::uint64_t count() const noexcept {
    std::uint64_t total = 0;
    for (const std::uint64_t bucket : buckets) total += bucket;
    return total;
  }

  LatencyFigures& operator+=(const LatencyFigures& other) noexcept {
    for (std::size_t i = 0; i < kBuckets; ++i) buckets[i] += other.buckets[i];
    sum += other.sum;
    return *this;
  }
};

/// How long things took, in buckets each twice as wide as the one before. One thread adds, without
/// a lock or a locked instruction; any thread reads, and may see some of what is just being added.
class LatencyHistogram {
 public:
  void add(std::chrono::nanoseconds time) noexcept {
    const auto nanoseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(time.count(), 0));
    bump(buckets_[bucket_of(nanoseconds)], 1);
    bump(sum_, nanoseconds);
  }

  LatencyFigures figures() const noexcept {
    LatencyFigures figures;
    for (std::size_t i = 0; i < buckets_.size(); ++i) {
      figures.buckets[i] = buckets_[i].load(std::memory_order_relaxed);
    }
    figures.sum = std::chrono::nanoseconds(sum_.load(std::memory_order_relaxed));
    return figures;
  }

  /// Adds to what only the calling thread changes.
  static void bump(std::atomic<std::uint64_t>& counter, std::uint64_t by) noexcept {
    counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_relaxed);
  }

 private:
  /// A time that is a bound belongs below it, as Prometheus has it.
  static std::size_t bucket_of(std::uint64_t nanoseconds) noexcept {
    constexpr std::uint64_t kMicrosecond = 1000;
    const std::uint64_t started = (nanoseconds + kMicrosecond - 1) / kMicrosecond;
    const auto bucket = static_cast<std::size_t>(std::bit_width(started - (started > 0 ? 1 : 0)));
    return std::min(bucket, LatencyFigures::kBounded);
  }

  std::array<std::atomic<std::uint64_t>, LatencyFigures::kBuckets> buckets_{};
  std::atomic<std::uint64_t> sum_ = 0;  ///< nanoseconds
};

}  // namespace rdmablk::metrics
