#include "initiator/chunk_map.h"

#include <bit>

#include "common/protocol/wire.h"

namespace rdmablk::initiator {

ChunkMap::ChunkMap(std::uint64_t chunk_size, std::vector<protocol::ChunkEntry> chunks)
    : shift_(static_cast<unsigned>(std::countr_zero(chunk_size))), chunks_(std::move(chunks)) {}

void ChunkMap::read(std::span<const std::byte> table) noexcept {
  protocol::WireReader reader(table);
  for (protocol::ChunkEntry& chunk : chunks_) chunk.decode(reader);
}

ChunkMap::Place ChunkMap::locate(std::uint64_t offset) const noexcept {
  const auto index = static_cast<std::size_t>(offset >> shift_);
  const std::uint64_t chunk_size = std::uint64_t{1} << shift_;
  const std::uint64_t within = offset & (chunk_size - 1);
  const protocol::ChunkEntry& chunk = chunks_[index];
  return {chunk.address + within, chunk.rkey, chunk_size - within};
}

std::uint32_t ChunkMap::count(std::uint64_t size, std::uint64_t chunk_size) noexcept {
  constexpr std::uint64_t kMinChunk = 4096;
  if (!std::has_single_bit(chunk_size) || chunk_size < kMinChunk || size == 0) return 0;
  const std::uint64_t chunks = (size - 1) / chunk_size + 1;
  return chunks <= kMaxChunks ? static_cast<std::uint32_t>(chunks) : 0;
}

}  // namespace rdmablk::initiator
