#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "initiator/cli/access_pattern.h"
#include "initiator/cli/bench_signals.h"
#include "initiator/cli/latency_histogram.h"
#include "initiator/cli/tick_clock.h"
#include "initiator/image.h"

namespace rdmablk::cli {

/// Keeps one queue busy, on a thread of its own. Everything that it needs is allocated and touched
/// before it begins.
class BenchWorker {
 public:
  using Clock = std::chrono::steady_clock;

  /// A request that failed.
  struct Failure {
    initiator::Operation operation;
    std::uint64_t offset;
    std::uint64_t length;
    int error;  ///< an errno value
  };

  /// Makes the queue and its buffers. Throws Error.
  /// @param queue 0 to options.queues - 1. @param signals outlives the worker, as do the image
  /// and the clock.
  BenchWorker(initiator::Image& image, const BenchOptions& options, const BenchRange& range,
              unsigned queue, BenchSignals& signals, const TickClock& clock);

  /// The thread's work: one round of requests that do not count, then a report, then, once told to
  /// begin, as many as there is time for, then a report. Once the signals say that requests in
  /// flight are abandoned, it waits for none. Does not throw.
  void run() noexcept;

  /// Requests that have ended so far. From any thread.
  std::uint64_t operations() const noexcept { return operations_.load(std::memory_order_relaxed); }

  /// What was measured; after run() has ended.
  const LatencyHistogram& reads() const noexcept { return reads_; }
  const LatencyHistogram& writes() const noexcept { return writes_; }
  Clock::time_point end() const noexcept { return end_; }
  const std::optional<Failure>& failure() const noexcept { return failure_; }

  /// Requests that were abandoned; after run() has ended. Their memory is the queue's as long as
  /// that lives, which is as long as the worker does.
  unsigned unfinished() const noexcept { return in_flight_; }

 private:
  void warm_up() noexcept;
  void work() noexcept;
  void submit_all() noexcept;
  void submit(initiator::Request& request, std::chrono::nanoseconds now) noexcept;
  std::span<initiator::Request*> wait() noexcept;
  std::size_t spin() noexcept;
  void record(const initiator::Request& request, std::chrono::nanoseconds now) noexcept;
  void note_failure(const initiator::Request& request) noexcept;

  BenchSignals& signals_;
  const TickClock& clock_;
  AccessPattern pattern_;
  std::unique_ptr<initiator::RequestBuffers> buffers_;  // outlive the queue that works on them
  std::vector<initiator::Request> requests_;
  std::vector<std::chrono::nanoseconds> submitted_;
  std::vector<initiator::Request*> ended_;
  std::unique_ptr<initiator::Queue> queue_;
  unsigned in_flight_ = 0;
  LatencyHistogram reads_;
  LatencyHistogram writes_;
  Clock::time_point end_;
  std::optional<Failure> failure_;
  alignas(64) std::atomic<std::uint64_t> operations_ = 0;  // read by the main thread
};

}  // namespace rdmablk::cli
