#pragma once

#include "initiator/attachment.h"
#include "initiator/remote_image.h"

namespace rdmablk::initiator {

/// An attached file export: its queues send commands to the target.
class FileImage final : public RemoteImage {
 public:
  /// @param session outlives the image. Throws Error when the target's answer cannot be.
  FileImage(RdmaSession& session, std::string uri, protocol::AttachReply reply);

  const ImageInfo& info() const noexcept override { return info_; }
  const protocol::AttachReply& attachment() const noexcept override { return attachment_.reply(); }
  std::unique_ptr<Queue> make_queue(unsigned depth) override;
  std::unique_ptr<RequestBuffers> make_buffers(std::size_t bytes) override;

 private:
  Attachment attachment_;
  ImageInfo info_;
};

}  // namespace rdmablk::initiator
