#pragma once

#include <condition_variable>
#include <mutex>
#include <unordered_map>

#include "common/softverbs/cm/device_table.h"
#include "common/softverbs/cm/progress_thread.h"

namespace softverbs::cm {

class Id;

/// What the connection manager keeps for the whole process. It comes into being with the first
/// event channel or id, so a program may fork before that, and is never destroyed: its thread may
/// run until the process ends.
///
/// One lock guards ids, channels and the thread's work: connections are made rarely, and so no
/// order of locks can be wrong. It is never held across a verbs call that may wait.
class Process {
 public:
  /// @throws std::system_error when there is no device or no thread can be had; the next call
  ///   tries again.
  static Process& get();

  Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  std::mutex mutex;
  std::condition_variable acknowledged;
  DeviceTable devices;
  ProgressThread progress;
  std::unordered_map<uint64_t, Id*> ids;  ///< by serial number
  uint64_t next_serial = 1;
  /// What rdma_get_devices(3) handed out.
  std::unordered_map<ibv_context**, std::vector<std::shared_ptr<Device>>> device_lists;

 private:
  void on_devices_changed();
};

using Lock = std::unique_lock<std::mutex>;

}  // namespace softverbs::cm
