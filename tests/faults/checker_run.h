#pragma once

#include <memory>
#include <vector>

#include "initiator/remote_image.h"
#include "initiator/session.h"
#include "tests/faults/checker_options.h"
#include "tests/faults/checker_worker.h"
#include "tests/faults/shared_history.h"

namespace rdmablk::faults {

/// The workload of one process: its workers, and the sessions that they have one after the other.
class CheckerRun {
 public:
  /// Claims a lane for each worker. Throws Error: there are not enough.
  /// @param history outlives it.
  CheckerRun(const SharedHistory& history, CheckerOptions options);

  /// Makes the blocks zero, as the history begins. Throws Error.
  void clear();
  /// Works until the operations or the time are used up, `stop` is called or the history is
  /// stopped. Throws Error: there has been no session for too long.
  void run();
  /// From any thread.
  void stop() noexcept { progress_.stop = true; }

 private:
  using Clock = std::chrono::steady_clock;

  struct Attached {
    std::unique_ptr<initiator::Session> session;
    std::unique_ptr<initiator::RemoteImage> image;  // goes before its session
  };
  Attached attach(unsigned queues, unsigned depth) const;
  void work_in_one_session();
  bool ended() const noexcept { return progress_.stop || history_.stopped(); }

  const SharedHistory& history_;
  const CheckerOptions options_;
  CheckerProgress progress_;
  Lane* first_lane_ = nullptr;
  std::vector<Attached> abandoned_;
  std::vector<std::unique_ptr<CheckerWorker>> workers_;
};

}  // namespace rdmablk::faults
