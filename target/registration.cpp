#include "target/registration.h"

#include <algorithm>
#include <bit>
#include <optional>
#include <utility>

#include "common/numa.h"
#include "common/protocol/wire.h"
#include "common/verbs/context.h"
#include "target/memory_pieces.h"

namespace rdmablk::target {
namespace {

/// The only table that an export without resizing ever has.
constexpr std::uint64_t kFirstTable = 1;

unsigned chunk_access(protocol::Access access) {
  return access == protocol::Access::read_write
             ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE
             : IBV_ACCESS_REMOTE_READ;
}

std::uint64_t fit_chunk(ibv_context* device, std::uint64_t chunk) {
  const std::uint64_t largest = verbs::query_device(device).max_mr_size;
  return largest == 0 ? chunk : std::min(chunk, std::bit_floor(largest));
}

std::vector<verbs::MemoryRegion> register_chunks(const verbs::ProtectionDomain& pd,
                                                 std::span<std::byte> memory, std::uint64_t chunk,
                                                 unsigned access) {
  std::vector<std::optional<verbs::MemoryRegion>> made(chunk_count(memory.size(), chunk));
  const auto node = device_numa_node(verbs::device_name(pd.context()));
  for_each_piece(memory, chunk, node, [&](std::size_t number, std::span<std::byte> piece) {
    made[number].emplace(pd, piece, access);
  });
  std::vector<verbs::MemoryRegion> regions;
  regions.reserve(made.size());
  for (auto& region : made) regions.push_back(std::move(*region));
  return regions;
}

}  // namespace

Registration::Registration(ibv_context* device, std::span<std::byte> memory, std::uint64_t chunk,
                           protocol::Access access)
    : chunk_(fit_chunk(device, chunk)),
      pd_(device),
      chunks_(register_chunks(pd_, memory, chunk_, chunk_access(access))),
      table_(pd_, table_bytes(chunks_.size()), IBV_ACCESS_REMOTE_READ) {
  write_table();
}

void Registration::write_table() {
  protocol::WireWriter writer({table_.data(), table_bytes(chunks_.size())});
  for (const verbs::MemoryRegion& chunk : chunks_) {
    protocol::ChunkEntry{reinterpret_cast<std::uintptr_t>(chunk.data()), chunk.rkey()}.encode(
        writer);
  }
}

Footprint Registration::footprint() const noexcept {
  Footprint sum{0, chunks_.size() + 1, 1, table_bytes(chunks_.size())};
  for (const verbs::MemoryRegion& chunk : chunks_) sum.bytes += chunk.size();
  return sum;
}

protocol::ChunkTable Registration::table() const noexcept {
  return {reinterpret_cast<std::uintptr_t>(table_.data()), table_.rkey(),
          static_cast<std::uint32_t>(chunks_.size()), chunk_, kFirstTable};
}

}  // namespace rdmablk::target
