#include "target/target_device.h"

#include "common/verbs/context.h"

namespace rdmablk::target {

TargetDevice::TargetDevice(ibv_context* context, std::span<const std::unique_ptr<Export>> exports)
    : messages_(context) {
  for (const auto& exported : exports) catalog_.add(exported->offer(context));
}

std::string TargetDevice::name() const {
  return verbs::device_name(context());
}

}  // namespace rdmablk::target
