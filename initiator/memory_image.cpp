#include "initiator/memory_image.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/protocol/private_data.h"
#include "common/verbs/context.h"
#include "initiator/memory_queue.h"

namespace rdmablk::initiator {
namespace {

/// The longest READ or WRITE, in bytes. Longer ones gain nothing and make others wait.
constexpr std::uint64_t kMaxPiece = 1U << 20U;

ImageInfo image_info(const protocol::AttachReply& reply) {
  ImageInfo info;
  info.name = reply.info.name;
  info.size = reply.info.size;
  info.read_only = reply.access == protocol::Access::read_only;
  info.block_size = reply.info.block_size;
  info.flush_is_free = true;
  return info;
}

}  // namespace

MemoryImage::MemoryImage(RdmaSession& session, std::string uri, protocol::AttachReply reply)
    : session_(session),
      uri_(std::move(uri)),
      reply_(std::move(reply)),
      info_(image_info(reply_)),
      max_piece_(std::min<std::uint64_t>(kMaxPiece, verbs::max_message_size(session.device()))),
      zeroes_(session.buffers_domain(), max_piece_, IBV_ACCESS_LOCAL_WRITE) {
  const auto& table = reply_.table;
  const std::uint32_t chunks = ChunkMap::count(info_.size, table.chunk_size);
  if (chunks == 0 || chunks != table.count) {
    throw Error(fmt::format("cannot attach {}: the target's chunk table makes no sense", uri_));
  }
}

MemoryImage::~MemoryImage() {
  session_.detach(reply_.attachment);
}

std::unique_ptr<Queue> MemoryImage::make_queue(unsigned depth) {
  if (queues_made_ == reply_.queues) {
    throw Error(fmt::format("cannot make one more I/O queue: the target grants {} of {}",
                            reply_.queues, uri_));
  }
  protocol::QueueRequest request;
  request.queue = queues_made_++;
  request.epoch = reply_.epoch;
  request.attachment = reply_.attachment;
  request.nonce = reply_.nonce;
  request.proof = reply_.token;
  const auto deadline = session_.deadline();
  const auto& pd = session_.buffers_domain();
  auto queue = std::make_unique<MemoryQueue>(session_.open_link(), pd,
                                             MemoryQueueOptions{uri_, depth, max_piece_, &zeroes_},
                                             request.encode(), deadline);
  queue->read_chunk_table(session_.loop(), pd, reply_.table, deadline);
  return queue;
}

std::unique_ptr<RequestBuffers> MemoryImage::make_buffers(std::size_t bytes) {
  return std::make_unique<RequestBuffers>(bytes, session_.buffers_domain());
}

}  // namespace rdmablk::initiator
