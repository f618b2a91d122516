#include "target/device_events.h"

#include <spdlog/spdlog.h>

#include "common/verbs/context.h"

namespace rdmablk::target {
namespace {

bool is_of_queue_pair(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
      return true;
    default:
      return false;
  }
}

}  // namespace

DeviceEvents::DeviceEvents(asio::io_context& io, ibv_context* device)
    : device_(device), watch_(io, device->async_fd, [this] { take(); }) {}

void DeviceEvents::take() noexcept {
  ibv_async_event event{};
  if (ibv_get_async_event(device_, &event) != 0) return;
  const bool is_queue_pair = is_of_queue_pair(event.event_type);
  const std::uint32_t number = is_queue_pair ? event.element.qp->qp_num : 0;
  // Before it is acknowledged the queue pair is not destroyed, and afterwards not looked at.
  ibv_ack_async_event(&event);
  const std::string device = verbs::device_name(device_);
  const char* const what = ibv_event_type_str(event.event_type);
  if (is_queue_pair) {
    // The loss of its connection is what the log tells: these may come in any number.
    spdlog::trace("{}: queue pair {}: {}", device, number, what);
  } else {
    spdlog::warn("{}: {}", device, what);
  }
}

}  // namespace rdmablk::target
