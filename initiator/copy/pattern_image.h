#pragma once

#include "initiator/copy/pattern.h"
#include "initiator/image.h"

namespace rdmablk::copy {

/// An image that nobody wrote: reading it gives a pattern. It cannot be written.
class PatternImage final : public initiator::Image {
 public:
  /// @param size bytes.
  PatternImage(Pattern pattern, std::uint64_t size);

  const initiator::ImageInfo& info() const noexcept override { return info_; }
  std::unique_ptr<initiator::Queue> make_queue(unsigned depth) override;
  std::unique_ptr<initiator::RequestBuffers> make_buffers(std::size_t bytes) override;

 private:
  initiator::ImageInfo info_;
  Pattern pattern_;
};

}  // namespace rdmablk::copy
