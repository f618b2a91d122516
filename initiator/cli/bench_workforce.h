#pragma once

#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "initiator/cli/bench_progress.h"
#include "initiator/cli/bench_result.h"
#include "initiator/cli/bench_signals.h"
#include "initiator/cli/bench_worker.h"
#include "initiator/cli/termination_signals.h"

namespace rdmablk::cli {

/// The workers of a benchmark and their threads.
class BenchWorkforce {
 public:
  static constexpr std::chrono::milliseconds kGrace{1500};

  /// Makes a queue and buffers for each worker. Throws Error.
  /// @param image outlives the workforce, as do the options.
  BenchWorkforce(initiator::Image& image, const BenchOptions& options, const BenchRange& range);

  ~BenchWorkforce();
  BenchWorkforce(const BenchWorkforce&) = delete;
  BenchWorkforce& operator=(const BenchWorkforce&) = delete;

  /// Runs the workers until the time is over, a request fails, or SIGINT or SIGTERM comes; a second
  /// one ends the process. Requests that do not come back within kGrace of that are abandoned.
  /// Once. Throws Error when a request failed.
  BenchResult run();

 private:
  using Clock = BenchWorker::Clock;

  void finish_round(Clock::time_point end, BenchProgress* progress);
  bool wait_for_reports(Clock::time_point until);
  void interrupt() noexcept;
  std::uint64_t operations() const noexcept;
  void check_failures() const;
  BenchResult result(Clock::time_point start) const;

  const BenchOptions& options_;
  TerminationSignals termination_;
  BenchSignals signals_;
  TickClock clock_;
  std::vector<std::unique_ptr<BenchWorker>> workers_;
  std::uint64_t reports_ = 0;
  bool interrupted_ = false;
  std::vector<std::jthread> threads_;  // end before all that they use
};

}  // namespace rdmablk::cli
