#include "initiator/resident_image.h"

namespace rdmablk::initiator {

ResidentImage::ResidentImage(std::unique_ptr<Attachment> attachment)
    : MemoryImage(std::move(attachment)), state_(info().size) {}

std::unique_ptr<ConnectedQueue> ResidentImage::connect_queue(
    unsigned depth, std::span<const std::byte> private_data) {
  RdmaSession& session = attached().session();
  const auto deadline = session.deadline();
  const std::uint64_t size = attached().current().info.size;
  const protocol::ChunkTable& where = table();
  return std::make_unique<ResidentQueue>(session.loop(), session.open_link(),
                                         session.buffers_domain(), queue_options(depth), state_,
                                         size, where, private_data, deadline);
}

void ResidentImage::on_size(std::uint64_t size) noexcept {
  state_.dirty.resize(size);
}

}  // namespace rdmablk::initiator
