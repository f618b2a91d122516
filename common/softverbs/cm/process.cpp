#include "common/softverbs/cm/process.h"

#include "common/softverbs/cm/id.h"
#include "common/softverbs/verbs/device_watch.h"
#include "common/softverbs/verbs/process.h"

namespace softverbs::cm {

Process::Process() : progress(mutex) {
  // By now a device is open.
  softverbs::Process::current().device_watch().subscribe([this] { on_devices_changed(); });
  const Lock lock(mutex);
  devices.refresh();  // What changed since they were looked at.
}

void Process::on_devices_changed() {
  std::vector<std::shared_ptr<Device>> removed;  // Closed, if no id has them, without the lock.
  const Lock lock(mutex);
  removed = devices.refresh();
  for (const auto& device : removed) {
    for (const auto& [serial, id] : ids) {
      if (id->device == device) id->on_device_removal();
    }
  }
}

Process& Process::get() {
  static Process* const process = new Process;
  return *process;
}

}  // namespace softverbs::cm
