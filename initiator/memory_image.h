#pragma once

#include "common/verbs/registered_buffer.h"
#include "initiator/attachment.h"
#include "initiator/memory_queue.h"
#include "initiator/remote_image.h"

namespace rdmablk::initiator {

/// An attached export that is served from memory, its writes not kept by flushes: its queues READ
/// and WRITE the target's memory.
class MemoryImage : public RemoteImage {
 public:
  /// @param session outlives the image. Throws Error when the target's answer cannot be.
  MemoryImage(RdmaSession& session, std::string uri, protocol::AttachReply reply);

  const ImageInfo& info() const noexcept override { return info_; }
  const protocol::AttachReply& attachment() const noexcept override { return attachment_.reply(); }
  std::unique_ptr<Queue> make_queue(unsigned depth) override;
  std::unique_ptr<RequestBuffers> make_buffers(std::size_t bytes) override;

 protected:
  Attachment& attached() noexcept { return attachment_; }

  /// For a queue of this depth.
  MemoryQueueOptions queue_options(unsigned depth) const;

 private:
  Attachment attachment_;
  ImageInfo info_;
  std::uint64_t max_piece_;
  verbs::RegisteredBuffer zeroes_;
};

}  // namespace rdmablk::initiator
