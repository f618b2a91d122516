#pragma once

#include <vector>

#include "common/metrics/io_counters.h"
#include "fuse/activity.h"
#include "fuse/interrupts.h"
#include "fuse/unsynced_writes.h"
#include "fuse/watch.h"

namespace rdmablk::fuse {

/// What the workers of a mount share. Outlives them.
struct WorkerTeam {
  /// @param workers at most 64. Throws SystemError.
  explicit WorkerTeam(unsigned workers)
      : watch(workers), interrupts(workers), unsynced(workers), counters(workers) {}

  /// What all workers have done so far. Any thread.
  metrics::IoFigures figures() const noexcept {
    metrics::IoFigures figures;
    for (const metrics::IoCounters& one : counters) figures += one.figures();
    return figures;
  }

  Watch watch;
  Interrupts interrupts;
  UnsyncedWrites unsynced;  ///< not counted where flushing has nothing to do
  Activity activity;
  std::vector<metrics::IoCounters> counters;  ///< each worker's own
};

}  // namespace rdmablk::fuse
