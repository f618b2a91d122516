#include "initiator/resident_image.h"

namespace rdmablk::initiator {

ResidentImage::ResidentImage(RdmaSession& session, std::string uri, protocol::AttachReply reply)
    : MemoryImage(session, std::move(uri), std::move(reply)), state_(info().size) {}

std::unique_ptr<Queue> ResidentImage::make_queue(unsigned depth) {
  RdmaSession& session = attached().session();
  const auto private_data = attached().next_queue();
  const auto deadline = session.deadline();
  return std::make_unique<ResidentQueue>(session.loop(), session.open_link(),
                                         session.buffers_domain(), queue_options(depth), state_,
                                         attached().reply().table, private_data, deadline);
}

}  // namespace rdmablk::initiator
