#include "target/target_device.h"

#include <utility>

#include "common/verbs/context.h"

namespace rdmablk::target {

TargetDevice::TargetDevice(ibv_context* context, std::function<void()> unused)
    : unused_(std::move(unused)), messages_(context) {}

TargetDevice::~TargetDevice() {
  messages_.reset();
  if (unused_) unused_();
}

std::string TargetDevice::name() const {
  return verbs::device_name(context());
}

}  // namespace rdmablk::target
