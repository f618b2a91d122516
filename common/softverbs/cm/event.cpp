#include "common/softverbs/cm/event.h"

#include <algorithm>
#include <span>

#include "common/softverbs/cm/id.h"

namespace softverbs::cm {

Event::Event(rdma_cm_event_type type, Id& about, Id& event_owner, int event_status)
    : rdma_cm_event{}, owner(&event_owner) {
  id = &about;
  event = type;
  status = event_status;
}

Event::~Event() = default;

void Event::set_connection(const Message& message, size_t shown_size) {
  param.conn.responder_resources = message.initiator_depth;
  param.conn.initiator_depth = message.responder_resources;
  param.conn.flow_control = message.flow_control;
  param.conn.retry_count = message.retry_count;
  param.conn.rnr_retry_count = message.rnr_retry_count;
  param.conn.srq = message.srq;
  param.conn.qp_num = message.qp_num;
  const auto sent = std::span(message.private_data).first(message.private_data_size);
  std::copy(sent.begin(), sent.end(), private_data.begin());
  param.conn.private_data_len = static_cast<uint8_t>(std::min(shown_size, kMaxPrivateData));
  param.conn.private_data = param.conn.private_data_len != 0 ? private_data.data() : nullptr;
}

}  // namespace softverbs::cm
