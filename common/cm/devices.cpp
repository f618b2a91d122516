#include "common/cm/devices.h"

#include <fmt/format.h>
#include <rdma/rdma_cma.h>

#include <cerrno>
#include <vector>

#include "common/known_error.h"
#include "common/verbs/context.h"
#include "common/verbs/device_list.h"

namespace rdmablk::cm {
namespace {

[[noreturn]] void fail_without_device() {
  throw KnownError(ENODEV, fmt::format("there is no RDMA device on this host; {}",
                                       verbs::no_device_hint()));
}

class RdmacmDevices final : public Devices {
 public:
  RdmacmDevices() {
    int count = 0;
    list_.reset(rdma_get_devices(&count));
    if (!list_ || count == 0) fail_without_device();
    devices_ = {list_.get(), static_cast<std::size_t>(count)};
  }
  std::span<ibv_context* const> get() const noexcept override { return devices_; }

 private:
  struct Free {
    void operator()(ibv_context** list) const noexcept { rdma_free_devices(list); }
  };
  std::unique_ptr<ibv_context*[], Free> list_;
  std::span<ibv_context* const> devices_;
};

class VerbsDevices final : public Devices {
 public:
  VerbsDevices() {
    const verbs::DeviceList list;
    for (ibv_device* const device : list.devices()) {
      contexts_.emplace_back(device);
      devices_.push_back(contexts_.back().get());
    }
    if (devices_.empty()) fail_without_device();
  }
  std::span<ibv_context* const> get() const noexcept override { return devices_; }

 private:
  std::vector<verbs::Context> contexts_;
  std::vector<ibv_context*> devices_;
};

}  // namespace

std::unique_ptr<Devices> open_rdmacm_devices() {
  return std::make_unique<RdmacmDevices>();
}

std::unique_ptr<Devices> open_verbs_devices() {
  return std::make_unique<VerbsDevices>();
}

}  // namespace rdmablk::cm
