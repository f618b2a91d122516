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
      zeroes_(kMaxPiece, attached().session().device_table(), Registration::Use::source) {
  check(attached().current().table);
}

protocol::ChunkTable MemoryImage::check(const protocol::ChunkTable& table) const {
  const std::uint32_t chunks = ChunkMap::count(attached().current().info.size, table.chunk_size);
  if (chunks == 0 || chunks != table.count) {
    throw Error(
        fmt::format("cannot attach {}: the target's chunk table makes no sense", attached().uri()));
  }
  return table;
}

protocol::ChunkTable MemoryImage::table_for(const QueuePlace& place) const {
  const protocol::AttachReply& current = attached().current();
  if (!is_elsewhere(place.path)) return check(current.table);
  protocol::Table request;
  request.attachment = current.attachment;
  request.number = current.table.number;
  request.queue = place.number;
  return check(attached().session().ask_for_table(attached().uri(), request));
}

MemoryQueueOptions MemoryImage::queue_options(const QueuePlace& place,
                                              const SessionDevice& device) const {
  MemoryQueueOptions options;
  options.name = attached().uri();
  options.depth = place.depth;
  options.max_piece = std::min<std::uint64_t>(kMaxPiece, verbs::max_message_size(device.context()));
  options.zeroes = &zeroes_;
  return options;
}

std::unique_ptr<ConnectedQueue> MemoryImage::connect_queue(
    const QueuePlace& place, Way way, std::span<const std::byte> private_data) {
  RdmaSession& session = attached().session();
  const auto deadline = session.deadline();
  auto options = queue_options(place, *way.use.device);
  auto queue =
      std::make_unique<MemoryQueue>(std::move(way), std::move(options), private_data, deadline);
  const auto table = table_for(place);
  queue->read_chunk_table(session.loop(), attached().current().info.size, table, deadline);
  return queue;
}

std::unique_ptr<QueueResize> MemoryImage::make_resize(const QueuePlace& place) const {
  auto resize = AttachedImage::make_resize(place);
  resize->table = table_for(place);
  const auto& pd = resize->device->domain();
  resize->sink = std::make_unique<verbs::RegisteredBuffer>(
      pd, resize->table.count * protocol::ChunkEntry::kSize, verbs::local_access(pd.context()));
  resize->chunks =
      ChunkMap(resize->table.chunk_size, std::vector<protocol::ChunkEntry>(resize->table.count));
  return resize;
}

}  // namespace rdmablk::initiator
