#pragma once

#include <chrono>

#include "initiator/cli/bench_options.h"
#include "initiator/cli/latency_histogram.h"

namespace rdmablk::cli {

/// What a benchmark measured, over all its queues.
struct BenchResult {
  LatencyHistogram reads;
  LatencyHistogram writes;
  std::chrono::nanoseconds elapsed{};  ///< from the first request to the end of the last
  bool interrupted = false;            ///< a signal ended it before its time
  std::uint64_t unfinished = 0;        ///< requests that did not come back, and count for nothing
};

}  // namespace rdmablk::cli
