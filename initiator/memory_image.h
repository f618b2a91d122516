#pragma once

#include <optional>
#include <string>

#include "common/verbs/registered_buffer.h"
#include "initiator/rdma_session.h"
#include "initiator/remote_image.h"

namespace rdmablk::initiator {

/// An attached memory export: its queues READ and WRITE the target's memory.
class MemoryImage final : public RemoteImage {
 public:
  /// @param session outlives the image. Throws Error when the target's answer cannot be.
  MemoryImage(RdmaSession& session, std::string uri, protocol::AttachReply reply);
  ~MemoryImage() override;
  MemoryImage(const MemoryImage&) = delete;
  MemoryImage& operator=(const MemoryImage&) = delete;

  const ImageInfo& info() const noexcept override { return info_; }
  const protocol::AttachReply& attachment() const noexcept override { return reply_; }
  std::unique_ptr<Queue> make_queue(unsigned depth) override;
  std::unique_ptr<RequestBuffers> make_buffers(std::size_t bytes) override;

 private:
  RdmaSession& session_;
  std::string uri_;
  protocol::AttachReply reply_;
  ImageInfo info_;
  std::uint64_t max_piece_;
  verbs::RegisteredBuffer zeroes_;
  std::uint16_t queues_made_ = 0;
};

}  // namespace rdmablk::initiator
