#pragma once

#include <array>
#include <atomic>
#include <cstdint>

#include "common/metrics/latency_histogram.h"
#include "common/protocol/use_report.h"
#include "initiator/request.h"

namespace rdmablk::capi {

/// Counts what was done on a queue, for the target, which cannot see that itself: changed by
/// whoever uses the queue, read by any thread.
class alignas(64) UseCounters {
 public:
  /// A request has ended.
  void count(const initiator::Request& request) noexcept {
    using initiator::Operation;
    switch (request.operation) {
      case Operation::read:
        return count(reads_, bytes_read_, request);
      case Operation::write:
        return count(writes_, bytes_written_, request);
      case Operation::flush:
        return count(flushes_, ignored_, request);
      default:
        return count(others_, ignored_, request);
    }
  }

  protocol::Use read() const noexcept {
    protocol::Use use;
    use.reads = value(reads_);
    use.writes = value(writes_);
    use.flushes = value(flushes_);
    use.others = value(others_);
    use.bytes_read = value(bytes_read_);
    use.bytes_written = value(bytes_written_);
    use.errors = value(errors_);
    return use;
  }

 private:
  using Counter = std::atomic<std::uint64_t>;

  static std::uint64_t value(const Counter& counter) noexcept {
    return counter.load(std::memory_order_relaxed);
  }

  void count(Counter& requests, Counter& bytes, const initiator::Request& request) noexcept {
    using metrics::LatencyHistogram;
    LatencyHistogram::bump(requests, 1);
    LatencyHistogram::bump(request.error == 0 ? bytes : errors_,
                           request.error == 0 ? request.length : 1);
  }

  Counter reads_ = 0;
  Counter writes_ = 0;
  Counter flushes_ = 0;
  Counter others_ = 0;
  Counter bytes_read_ = 0;
  Counter bytes_written_ = 0;
  Counter errors_ = 0;
  Counter ignored_ = 0;
};

}  // namespace rdmablk::capi
