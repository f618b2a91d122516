#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/protocol/messages.h"

namespace rdmablk::initiator {

/// Where the bytes of an export lie in the target's memory.
class ChunkMap {
 public:
  /// Of nothing.
  ChunkMap() = default;

  /// @param chunk_size bytes, a power of two.
  /// @param chunks one entry for each `chunk_size` bytes of the export.
  ChunkMap(std::uint64_t chunk_size, std::vector<protocol::ChunkEntry> chunks);

  /// Replaces what the chunks are by a table as it lies in the target's memory.
  /// @param table at least as many entries as there are chunks.
  void read(std::span<const std::byte> table) noexcept;

  /// Where a byte lies, and how many follow it in the same chunk.
  struct Place {
    std::uint64_t address;
    std::uint32_t rkey;
    std::uint64_t contiguous;  ///< bytes, the first included
  };

  /// @param offset within the export.
  Place locate(std::uint64_t offset) const noexcept;

  /// How many chunks an export of this size has. Nothing about the target's answer is believed:
  /// zero for a chunk size that is no power of two of at least 4096, or for more than kMaxChunks.
  static std::uint32_t count(std::uint64_t size, std::uint64_t chunk_size) noexcept;

  static constexpr std::uint64_t kMaxChunks = 1U << 20U;

 private:
  unsigned shift_ = 0;
  std::vector<protocol::ChunkEntry> chunks_;
};

}  // namespace rdmablk::initiator
