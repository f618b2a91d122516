#pragma once

#include "initiator/memory_image.h"
#include "initiator/resident_queue.h"

namespace rdmablk::initiator {

/// An attached resident export that may be written: served as a memory export, and flushed to its
/// file.
class ResidentImage final : public MemoryImage {
 public:
  /// @param session outlives the image. Throws Error when the target's answer cannot be.
  ResidentImage(RdmaSession& session, std::string uri, protocol::AttachReply reply);

  std::unique_ptr<Queue> make_queue(unsigned depth) override;

 private:
  ResidentState state_;
};

}  // namespace rdmablk::initiator
