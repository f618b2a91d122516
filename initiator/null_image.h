#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "common/memory_mapping.h"
#include "initiator/image.h"

namespace rdmablk::initiator {

/// An image in memory of this process: no device, no target, one memcpy a request. Shows what the
/// layers above cost on their own. Its content starts as zeroes and is lost with it.
class NullImage final : public Image {
 public:
  /// @param name goes into info().
  /// @param size bytes, a multiple of 512, at least 512.
  /// @param read_only whether info() says so; who submits requests honours it.
  /// Throws SystemError when there is not so much memory.
  NullImage(std::string name, std::uint64_t size, bool read_only);

  const ImageInfo& info() const noexcept override { return info_; }
  std::unique_ptr<Queue> make_queue(unsigned depth) override;
  std::unique_ptr<RequestBuffers> make_buffers(std::size_t bytes) override;

 private:
  ImageInfo info_;
  MemoryMapping memory_;
};

}  // namespace rdmablk::initiator
