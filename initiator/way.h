#pragma once

#include <memory>

#include "initiator/link.h"
#include "initiator/path_use.h"
#include "initiator/session_device.h"

namespace rdmablk::initiator {

/// What a queue holds of the way that its connection takes.
struct WayUse {
  std::shared_ptr<SessionDevice> device;
  std::shared_ptr<PathUse> count;
};

/// A way for a queue: a connection whose peer is known and that is not made yet, over one of the
/// session's paths.
struct Way {
  std::unique_ptr<Link> link;
  WayUse use;
};

}  // namespace rdmablk::initiator
