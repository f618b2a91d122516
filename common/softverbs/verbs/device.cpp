#include "common/softverbs/verbs/device.h"

#include <endian.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "common/softverbs/export.h"
#include "common/softverbs/faults/fault_injector.h"
#include "common/softverbs/verbs/settings.h"

namespace softverbs {
namespace {

std::vector<std::unique_ptr<Device>> make_devices() {
  const Settings& settings = Settings::get();
  std::vector<std::unique_ptr<Device>> devices;
  if (FaultInjector::refused()) return devices;
  for (int i = 0; i < settings.devices; ++i) {
    auto device = std::make_unique<Device>();
    device->index = i;
    device->base.node_type = settings.iwarp() ? IBV_NODE_RNIC : IBV_NODE_CA;
    device->base.transport_type = settings.iwarp() ? IBV_TRANSPORT_IWARP : IBV_TRANSPORT_IB;
    std::snprintf(device->base.name, sizeof device->base.name, "soft%d", i);
    std::snprintf(device->base.dev_name, sizeof device->base.dev_name, "softverbs%d", i);
    devices.push_back(std::move(device));
  }
  return devices;
}

const std::vector<std::unique_ptr<Device>>& all_devices() {
  static const auto* devices = new std::vector(make_devices());
  return *devices;
}

}  // namespace

// A locally administered EUI-64, so nobody's.
__be64 Device::guid() const {
  return htobe64(0x0253'4fff'fe00'0001ULL + static_cast<uint64_t>(index));
}

}  // namespace softverbs

using softverbs::Device;

SOFTVERBS_EXPORT ibv_device** ibv_get_device_list(int* num_devices) {
  const auto& devices = softverbs::all_devices();
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
  return Device::from(device)->index;
}
