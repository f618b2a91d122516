#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "common/unique_fd.h"
#include "initiator/cli/termination_signals.h"
#include "initiator/copy/piece_worker.h"
#include "initiator/copy/progress.h"

namespace rdmablk::copy {

/// Lets workers work, each on a thread of its own, and watches over them.
class Crew {
 public:
  /// How long requests that are under way may take to come back after an interruption.
  static constexpr std::chrono::milliseconds kGrace{1500};

  /// What to say, on one line, when it was interrupted with so many bytes done.
  using Interrupted = std::function<std::string(std::uint64_t bytes)>;

  /// @param workers outlive the crew, as does the plan that they work from, and the rest. Throws
  /// SystemError.
  Crew(std::span<const std::unique_ptr<PieceWorker>> workers, CopyPlan& plan,
       cli::TerminationSignals& termination, Interrupted interrupted);
  Crew(const Crew&) = delete;
  Crew& operator=(const Crew&) = delete;

  /// Returns when all workers have ended: see for yourself whether they failed. Once. Throws Error
  /// when SIGINT or SIGTERM came. When requests do not come back within kGrace of that, it ends the
  /// process with the same line and kExitFailed: to wait would be to wait for a target that does
  /// not answer, or for a pipe that nobody writes to.
  void run(Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;

  bool wait(int timeout_ms);
  void interrupt() noexcept;
  int poll_timeout(const Progress& progress) const;
  std::uint64_t bytes() const noexcept;
  [[noreturn]] void leave(Progress& progress) const noexcept;

  std::span<const std::unique_ptr<PieceWorker>> workers_;
  CopyPlan& plan_;
  cli::TerminationSignals& termination_;
  Interrupted interrupted_text_;
  UniqueFd ended_event_;
  std::uint64_t ended_ = 0;
  bool is_interrupted_ = false;
  Clock::time_point last_moment_ = Clock::time_point::max();
  std::vector<std::jthread> threads_;  // end before what they use
};

}  // namespace rdmablk::copy
