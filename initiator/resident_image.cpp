#include "initiator/resident_image.h"

namespace rdmablk::initiator {

ResidentImage::ResidentImage(std::unique_ptr<Attachment> attachment)
    : MemoryImage(std::move(attachment)), state_(info().size) {}

std::unique_ptr<ConnectedQueue> ResidentImage::connect_queue(
    const QueuePlace& place, Way way, std::span<const std::byte> private_data) {
  RdmaSession& session = attached().session();
  const auto deadline = session.deadline();
  auto options = queue_options(place, *way.use.device);
  auto queue = std::make_unique<ResidentQueue>(session.loop(), std::move(way), std::move(options),
                                               state_, private_data, deadline);
  const auto table = table_for(place);
  queue->read_chunk_table(session.loop(), attached().current().info.size, table, deadline);
  return queue;
}

void ResidentImage::on_size(std::uint64_t size) noexcept {
  state_.dirty.resize(size);
}

}  // namespace rdmablk::initiator
