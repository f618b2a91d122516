#include "initiator/memory_image.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/verbs/context.h"

namespace rdmablk::initiator {
namespace {

/// The longest READ or WRITE, in bytes. Longer ones gain nothing and make others wait.
constexpr std::uint64_t kMaxPiece = 1U << 20U;

}  // namespace

MemoryImage::MemoryImage(RdmaSession& session, std::string uri, protocol::AttachReply reply)
    : attachment_(session, std::move(uri), std::move(reply)),
      info_(attachment_.info()),
      max_piece_(std::min<std::uint64_t>(kMaxPiece, verbs::max_message_size(session.device()))),
      zeroes_(session.buffers_domain(), max_piece_, IBV_ACCESS_LOCAL_WRITE) {
  const auto& table = attachment_.reply().table;
  const std::uint32_t chunks = ChunkMap::count(info_.size, table.chunk_size);
  if (chunks == 0 || chunks != table.count) {
    throw Error(fmt::format("cannot attach {}: the target's chunk table makes no sense",
                            attachment_.uri()));
  }
}

MemoryQueueOptions MemoryImage::queue_options(unsigned depth) const {
  MemoryQueueOptions options;
  options.name = attachment_.uri();
  options.depth = depth;
  options.max_piece = max_piece_;
  options.zeroes = &zeroes_;
  return options;
}

std::unique_ptr<Queue> MemoryImage::make_queue(unsigned depth) {
  RdmaSession& session = attachment_.session();
  const auto private_data = attachment_.next_queue();
  const auto deadline = session.deadline();
  const auto& pd = session.buffers_domain();
  auto queue = std::make_unique<MemoryQueue>(session.open_link(), pd, queue_options(depth),
                                             private_data, deadline);
  queue->read_chunk_table(session.loop(), pd, attachment_.reply().table, deadline);
  return queue;
}

std::unique_ptr<RequestBuffers> MemoryImage::make_buffers(std::size_t bytes) {
  return std::make_unique<RequestBuffers>(bytes, attachment_.session().buffers_domain());
}

}  // namespace rdmablk::initiator
