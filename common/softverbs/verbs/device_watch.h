#pragma once

#include <functional>
#include <mutex>
#include <vector>

#include "common/softverbs/verbs/device.h"

namespace softverbs {

class Process;

/// Carries out the faults device-removal and port-down in one process, as soon as the plan's file
/// says so: a thread of its own sleeps until that file is replaced. Without such a file there is no
/// thread.
class DeviceWatch {
 public:
  explicit DeviceWatch(Process& process);
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;

  /// Calls `function` after each change, in the watching thread, from now on.
  void subscribe(std::function<void()> function);

  /// For a process that has opened no device yet: the devices become what the plan says.
  static void look_unless_watched();

 private:
  [[noreturn]] void run(int inotify);
  void look();
  void on_change(Device& device, bool removal);

  Process& process_;
  std::mutex mutex_;
  std::vector<std::function<void()>> subscribers_;
};

}  // namespace softverbs
