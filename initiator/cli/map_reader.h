#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/protocol/io_messages.h"
#include "initiator/image.h"

namespace rdmablk::cli {

/// Asks an image where it holds data, and where holes. One thread.
class MapReader {
 public:
  /// @param image outlives the reader. Throws Error.
  explicit MapReader(initiator::Image& image);

  /// @param offset bytes. @param length bytes, not 0; the range lies within the image.
  /// @return what the range consists of, from its start to its end; no two neighbours are alike.
  /// Throws Error.
  std::vector<protocol::Extent> read(std::uint64_t offset, std::uint64_t length);

 private:
  std::span<const protocol::Extent> ask(std::uint64_t offset, std::uint64_t length);

  const initiator::ImageInfo& info_;
  std::unique_ptr<initiator::RequestBuffers> buffers_;
  std::unique_ptr<initiator::Queue> queue_;
};

}  // namespace rdmablk::cli
