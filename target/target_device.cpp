#include "target/target_device.h"

#include "common/verbs/context.h"

namespace rdmablk::target {

std::string TargetDevice::name() const {
  return verbs::device_name(context());
}

}  // namespace rdmablk::target
