#pragma once

#include "common/protocol/messages.h"
#include "initiator/image.h"

namespace rdmablk::initiator {

/// An attached export of a target. Destroying it detaches.
class RemoteImage : public Image {
 public:
  /// What the target said of the attachment: size, generation, what was granted.
  virtual const protocol::AttachReply& attachment() const noexcept = 0;
};

}  // namespace rdmablk::initiator
