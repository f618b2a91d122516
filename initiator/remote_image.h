#pragma once

#include <cstddef>
#include <span>

#include "common/protocol/messages.h"
#include "common/verbs/memory_region.h"
#include "initiator/image.h"

namespace rdmablk::initiator {

/// An attached export of a target. Destroying it detaches.
class RemoteImage : public Image {
 public:
  /// What the target said of the attachment: size, generation, what was granted.
  virtual const protocol::AttachReply& attachment() const noexcept = 0;

  /// Registers memory of the caller's with the image's device, for requests: its lkey is theirs.
  /// @param memory stays mapped as long as the registration, which the image outlives. Throws
  /// verbs::MemlockError or SystemError.
  virtual verbs::MemoryRegion register_memory(std::span<std::byte> memory) const = 0;
};

}  // namespace rdmablk::initiator
