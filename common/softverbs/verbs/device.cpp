#include "common/softverbs/verbs/device.h"

#include <endian.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/softverbs/export.h"
#include "common/softverbs/faults/fault_injector.h"
#include "common/softverbs/verbs/device_watch.h"
#include "common/softverbs/verbs/settings.h"

namespace softverbs {

DeviceSet& DeviceSet::get() {
  static auto* const set = new DeviceSet;
  return *set;
}

DeviceSet::DeviceSet() {
  if (FaultInjector::refused()) return;
  count_ = Settings::get().devices;
  for (int index = 0; index < count_; ++index) {
    Device* const device = current_[static_cast<size_t>(index)] = make(index);
    const Outages wanted = outages(index);
    device->removed.store(wanted.removal);
    device->port_down.store(wanted.port_down);
  }
}

Device* DeviceSet::make(int index) {
  const Settings& settings = Settings::get();
  Device* const device = made_.emplace_back(std::make_unique<Device>()).get();
  device->index = index;
  device->number = static_cast<int>(made_.size()) - 1;
  device->base.node_type = settings.iwarp() ? IBV_NODE_RNIC : IBV_NODE_CA;
  device->base.transport_type = settings.iwarp() ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
  std::snprintf(device->base.name, sizeof device->base.name, "soft%d", index);
  std::snprintf(device->base.dev_name, sizeof device->base.dev_name, "softverbs%d", index);
  return device;
}

DeviceSet::Outages DeviceSet::outages(int index) {
  Outages found;
  FaultInjector* const faults = FaultInjector::get();
  if (faults == nullptr) return found;
  for (const Fault fault : faults->outages(index)) {
    (fault == Fault::kDeviceRemoval ? found.removal : found.port_down) = true;
  }
  return found;
}

std::vector<Device*> DeviceSet::present() {
  const std::lock_guard lock(mutex_);
  std::vector<Device*> devices;
  for (int index = 0; index < count_; ++index) {
    Device* const device = current_[static_cast<size_t>(index)];
    if (!device->removed.load()) devices.push_back(device);
  }
  return devices;
}

// A locally administered EUI-64, so nobody's.
__be64 Device::guid() const {
  return htobe64(0x0253'4fff'fe00'0001ULL + static_cast<uint64_t>(index));
}

}  // namespace softverbs

using softverbs::Device;

SOFTVERBS_EXPORT ibv_device** ibv_get_device_list(int* num_devices) {
  softverbs::DeviceWatch::look_unless_watched();
  const auto devices = softverbs::DeviceSet::get().present();
  auto** list = static_cast<ibv_device**>(std::calloc(devices.size() + 1, sizeof(ibv_device*)));
  if (list == nullptr) {
    errno = ENOMEM;
    if (num_devices != nullptr) *num_devices = 0;
    return nullptr;
  }
  for (size_t i = 0; i < devices.size(); ++i) list[i] = &devices[i]->base;
  if (num_devices != nullptr) *num_devices = static_cast<int>(devices.size());
  return list;
}

SOFTVERBS_EXPORT void ibv_free_device_list(ibv_device** list) {
  std::free(list);
}

SOFTVERBS_EXPORT const char* ibv_get_device_name(ibv_device* device) {
  return device->name;
}

SOFTVERBS_EXPORT __be64 ibv_get_device_guid(ibv_device* device) {
  return Device::from(device)->guid();
}

SOFTVERBS_EXPORT int ibv_get_device_index(ibv_device* device) {
  return Device::from(device)->number;
}
