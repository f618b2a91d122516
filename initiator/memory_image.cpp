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
  const std::uint32_t chunks = ChunkMap::count(info().size, table.chunk_size);
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
  const protocol::ChunkTable& where = table();
  auto queue = std::make_unique<MemoryQueue>(session.open_link(), pd, queue_options(depth),
                                             private_data, deadline);
  queue->read_chunk_table(session.loop(), pd, where, deadline);
  return queue;
}

}  // namespace rdmablk::initiator
