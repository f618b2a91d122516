#pragma once

#include "fuse/activity.h"
#include "fuse/interrupts.h"
#include "fuse/unsynced_writes.h"
#include "fuse/watch.h"

namespace rdmablk::fuse {

/// What the workers of a mount share. Outlives them.
struct WorkerTeam {
  /// @param workers at most 64. Throws SystemError.
  explicit WorkerTeam(unsigned workers) : watch(workers), interrupts(workers), unsynced(workers) {}

  Watch watch;
  Interrupts interrupts;
  UnsyncedWrites unsynced;  ///< not counted where flushing has nothing to do
  Activity activity;
};

}  // namespace rdmablk::fuse
