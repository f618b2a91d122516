#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "common/memory_mapping.h"
#include "common/protocol/header.h"

namespace rdmablk::target {

/// How the memory of one I/O queue of a file export is cut into slots. Those are for the peer to
/// READ and WRITE. Data lies in a slot as it does in its blocks of the file: `offset % alignment`
/// behind the start. The edges are for this side alone: the first and the last block of a write
/// that covers them in part.
struct SlotLayout {
  std::uint32_t count = 0;
  std::uint32_t max_io = 0;     ///< bytes of the largest request
  std::uint32_t alignment = 1;  ///< of the file, in bytes, a power of two

  /// Bytes of a slot: any max_io bytes of the file, with the rest of the blocks that they are in.
  std::size_t stride() const noexcept {
    const std::size_t blocks = alignment > 1 ? 2 * std::size_t{alignment} : 0;
    return round_up(max_io + blocks, std::max<std::size_t>(page_size(), alignment));
  }

  std::size_t slot_bytes() const noexcept { return count * stride(); }
  std::size_t edge_bytes() const noexcept {
    return alignment > 1 ? 2 * std::size_t{alignment} * count : 0;
  }
  /// Of the messages: a request and a reply a slot. With small slots they are the larger part.
  std::size_t message_bytes() const noexcept {
    return 2 * std::size_t{protocol::kMaxMessage} * count;
  }
  std::size_t bytes() const noexcept { return slot_bytes() + edge_bytes() + message_bytes(); }
};

}  // namespace rdmablk::target
