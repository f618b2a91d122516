#include "initiator/session_device.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/verbs/context.h"

namespace rdmablk::initiator {

void DeviceTable::add(Registration& registration) {
  const std::lock_guard lock(mutex_);
  for (const SessionDevice* const device : devices_) {
    if (device != nullptr) registration.add(device->number(), device->domain());
  }
  registrations_.push_back(&registration);
}

void DeviceTable::remove(Registration& registration) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(registrations_, &registration);
  for (unsigned device = 0; device < kMaxDevices; ++device) registration.remove(device);
}

unsigned DeviceTable::add(SessionDevice& device) {
  const std::lock_guard lock(mutex_);
  const auto free = std::ranges::find(devices_, nullptr);
  if (free == devices_.end()) {
    throw Error(fmt::format("a session uses at most {} RDMA devices, and would now use {}, too",
                            kMaxDevices, device.name()));
  }
  const auto number = static_cast<unsigned>(free - devices_.begin());
  try {
    for (Registration* const registration : registrations_) {
      registration->add(number, device.domain());
    }
  } catch (...) {
    for (Registration* const registration : registrations_) registration->remove(number);
    throw;
  }
  *free = &device;
  return number;
}

void DeviceTable::remove(const SessionDevice& device) noexcept {
  const std::lock_guard lock(mutex_);
  for (Registration* const registration : registrations_) registration->remove(device.number());
  devices_[device.number()] = nullptr;
}

SessionDevice::SessionDevice(std::shared_ptr<DeviceTable> table, ibv_context* context)
    : table_(std::move(table)),
      name_(verbs::device_name(context)),
      domain_(context),
      number_(table_->add(*this)) {}

SessionDevice::~SessionDevice() {
  table_->remove(*this);
}

std::shared_ptr<SessionDevice> SessionDevices::use(ibv_context* context) {
  const auto known = std::ranges::find(devices_, context, &SessionDevice::context);
  if (known != devices_.end()) return *known;
  return devices_.emplace_back(std::make_shared<SessionDevice>(table_, context));
}

std::weak_ptr<SessionDevice> SessionDevices::drop(const ibv_context* context) noexcept {
  const auto known = std::ranges::find(devices_, context, &SessionDevice::context);
  if (known == devices_.end()) return {};
  std::weak_ptr<SessionDevice> left = *known;
  devices_.erase(known);
  return left;
}

}  // namespace rdmablk::initiator
