#include "target/registration.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "common/numa.h"
#include "common/protocol/wire.h"
#include "common/verbs/context.h"
#include "target/memory_pieces.h"

namespace rdmablk::target {
namespace {

unsigned chunk_access(protocol::Access access) {
  return access == protocol::Access::read_write
             ? IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE
             : IBV_ACCESS_REMOTE_READ;
}

std::uint64_t fit_chunk(ibv_context* device, std::uint64_t chunk) {
  const std::uint64_t largest = verbs::query_device(device).max_mr_size;
  return largest == 0 ? chunk : std::min(chunk, std::bit_floor(largest));
}

/// The chunk of another table that is this very piece; null when there is none.
RegisteredTable::Chunk find_same(const RegisteredTable* table, std::size_t number,
                                 std::span<const std::byte> piece) {
  if (table == nullptr || number >= table->chunks().size()) return nullptr;
  const auto& chunk = table->chunks()[number];
  return chunk->data() == piece.data() && chunk->size() == piece.size() ? chunk : nullptr;
}

}  // namespace

Registration::Registration(ibv_context* device, std::uint64_t chunk, protocol::Access access)
    : chunk_(fit_chunk(device, chunk)), access_(access), pd_(device) {}

std::unique_ptr<const RegisteredTable> Registration::make_table(
    std::span<std::byte> memory, std::uint64_t number, const RegisteredTable* before) const {
  std::vector<RegisteredTable::Chunk> chunks(chunk_count(memory.size(), chunk_));
  const auto node = device_numa_node(verbs::device_name(pd_.context()));
  for_each_piece(memory, chunk_, node, [&](std::size_t i, std::span<std::byte> piece) {
    chunks[i] = find_same(before, i, piece);
    if (chunks[i]) return;
    chunks[i] = std::make_shared<const verbs::MemoryRegion>(pd_, piece, chunk_access(access_));
  });
  return std::make_unique<const RegisteredTable>(pd_, std::move(chunks), chunk_, number);
}

RegisteredTable::RegisteredTable(const verbs::ProtectionDomain& pd, std::vector<Chunk> chunks,
                                 std::uint64_t chunk, std::uint64_t number)
    : chunks_(std::move(chunks)),
      chunk_(chunk),
      number_(number),
      table_(pd, table_bytes(chunks_.size()), IBV_ACCESS_REMOTE_READ) {
  protocol::WireWriter writer({table_.data(), table_bytes(chunks_.size())});
  for (const Chunk& region : chunks_) {
    protocol::ChunkEntry{reinterpret_cast<std::uintptr_t>(region->data()), region->rkey()}.encode(
        writer);
  }
}

protocol::ChunkTable RegisteredTable::where() const noexcept {
  return {reinterpret_cast<std::uintptr_t>(table_.data()), table_.rkey(),
          static_cast<std::uint32_t>(chunks_.size()), chunk_, number_};
}

}  // namespace rdmablk::target
