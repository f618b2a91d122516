#pragma once

#include "initiator/image.h"

namespace rdmablk::copy {

/// Standard input or output, as an image that has one queue: see StreamQueue for what that can do.
class StreamImage final : public initiator::Image {
 public:
  /// @param fd stays open as long as the image. @param name for messages.
  StreamImage(int fd, std::string name);

  const initiator::ImageInfo& info() const noexcept override { return info_; }
  std::unique_ptr<initiator::Queue> make_queue(unsigned depth) override;
  std::unique_ptr<initiator::RequestBuffers> make_buffers(std::size_t bytes) override;

 private:
  initiator::ImageInfo info_;
  int fd_;
};

}  // namespace rdmablk::copy
