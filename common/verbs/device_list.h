#pragma once

#include <infiniband/verbs.h>

#include <span>
#include <string>

namespace rdmablk::verbs {

/// The RDMA devices of this host (ibv_get_device_list(3)). Empty without any, also when the
/// kernel has no RDMA at all.
class DeviceList {
 public:
  DeviceList();
  ~DeviceList();
  DeviceList(const DeviceList&) = delete;
  DeviceList& operator=(const DeviceList&) = delete;

  std::span<ibv_device* const> devices() const noexcept { return devices_; }

 private:
  ibv_device** list_;
  std::span<ibv_device* const> devices_;
};

/// Why there is no RDMA device to be used, and what to do, as the end of a sentence: the kernel may
/// have one whose nodes are missing here, as in a container.
std::string no_device_hint();

/// What to do on a host without an RDMA device: the three ways to get one, over several lines.
const char* how_to_get_a_device();

}  // namespace rdmablk::verbs
