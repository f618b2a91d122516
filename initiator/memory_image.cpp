#include "initiator/memory_image.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/verbs/context.h"

namespace rdmablk::initiator {
namespace {

/// The longest READ or WRITE, in bytes. Longer ones gain nothing and make others wait.
constexpr std::uint64_t kMaxPiece = 1U << 20U;

}  // namespace

MemoryImage::MemoryImage(std::unique_ptr<Attachment> attachment)
    : AttachedImage(std::move(attachment)),
      max_piece_(std::min<std::uint64_t>(kMaxPiece,
                                         verbs::max_message_size(attached().session().device()))),
      zeroes_(attached().session().buffers_domain(), max_piece_, IBV_ACCESS_LOCAL_WRITE) {
  table();
}

const protocol::ChunkTable& MemoryImage::table() const {
  const auto& table = attached().current().table;
  const std::uint32_t chunks = ChunkMap::count(attached().current().info.size, table.chunk_size);
  if (chunks == 0 || chunks != table.count) {
    throw Error(
        fmt::format("cannot attach {}: the target's chunk table makes no sense", attached().uri()));
  }
  return table;
}

MemoryQueueOptions MemoryImage::queue_options(unsigned depth) const {
  MemoryQueueOptions options;
  options.name = attached().uri();
  options.depth = depth;
  options.max_piece = max_piece_;
  options.zeroes = &zeroes_;
  return options;
}

std::unique_ptr<ConnectedQueue> MemoryImage::connect_queue(
    unsigned depth, std::span<const std::byte> private_data) {
  RdmaSession& session = attached().session();
  const auto deadline = session.deadline();
  const auto& pd = session.buffers_domain();
  const std::uint64_t size = attached().current().info.size;
  const protocol::ChunkTable& where = table();
  auto queue = std::make_unique<MemoryQueue>(session.open_link(), pd, queue_options(depth),
                                             private_data, deadline);
  queue->read_chunk_table(session.loop(), pd, size, where, deadline);
  return queue;
}

std::unique_ptr<QueueResize> MemoryImage::make_resize() const {
  auto resize = AttachedImage::make_resize();
  const auto& pd = attached().session().buffers_domain();
  resize->table = table();
  resize->sink = std::make_unique<verbs::RegisteredBuffer>(
      pd, resize->table.count * protocol::ChunkEntry::kSize, verbs::local_access(pd.context()));
  resize->chunks =
      ChunkMap(resize->table.chunk_size, std::vector<protocol::ChunkEntry>(resize->table.count));
  return resize;
}

}  // namespace rdmablk::initiator
