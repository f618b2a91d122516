#include "initiator/registration.h"

#include "initiator/session_device.h"

namespace rdmablk::initiator {

Registration::Registration(std::shared_ptr<DeviceTable> devices, std::span<std::byte> memory,
                           Use use)
    : devices_(std::move(devices)), memory_(memory), use_(use) {
  devices_->add(*this);
}

Registration::~Registration() {
  devices_->remove(*this);
}

void Registration::add(unsigned device, const verbs::ProtectionDomain& pd) {
  const unsigned access =
      use_ == Use::requests ? verbs::local_access(pd.context()) : unsigned{IBV_ACCESS_LOCAL_WRITE};
  keys_.set(device, regions_[device].emplace(pd, memory_, access).lkey());
}

void Registration::remove(unsigned device) noexcept {
  regions_[device].reset();
  keys_.set(device, 0);
}

}  // namespace rdmablk::initiator
