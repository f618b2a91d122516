#include "target/device_events.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "common/verbs/context.h"

namespace rdmablk::target {
namespace {

bool is_of_queue_pair(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_QP_FATAL:
    case IBV_EVENT_QP_REQ_ERR:
    case IBV_EVENT_QP_ACCESS_ERR:
    case IBV_EVENT_COMM_EST:
    case IBV_EVENT_SQ_DRAINED:
    case IBV_EVENT_PATH_MIG:
    case IBV_EVENT_PATH_MIG_ERR:
    case IBV_EVENT_QP_LAST_WQE_REACHED:
      return true;
    default:
      return false;
  }
}

bool is_of_port(ibv_event_type type) {
  switch (type) {
    case IBV_EVENT_PORT_ACTIVE:
    case IBV_EVENT_PORT_ERR:
    case IBV_EVENT_LID_CHANGE:
    case IBV_EVENT_PKEY_CHANGE:
    case IBV_EVENT_GID_CHANGE:
    case IBV_EVENT_SM_CHANGE:
    case IBV_EVENT_CLIENT_REREGISTER:
      return true;
    default:
      return false;
  }
}

}  // namespace

DeviceEvents::DeviceEvents(asio::io_context& io, ibv_context* device, std::function<void()> failed)
    : device_(device),
      failed_(std::move(failed)),
      watch_(io, device->async_fd, [this] { take(); }) {}

void DeviceEvents::take() noexcept {
  ibv_async_event event{};
  if (ibv_get_async_event(device_, &event) != 0) return;
  log(event);
  // Before it is acknowledged the queue pair is not destroyed, and afterwards not looked at.
  const ibv_event_type type = event.event_type;
  ibv_ack_async_event(&event);
  if (type == IBV_EVENT_DEVICE_FATAL) failed_();
}

void DeviceEvents::log(const ibv_async_event& event) const {
  const std::string device = verbs::device_name(device_);
  const char* const what = ibv_event_type_str(event.event_type);
  if (is_of_queue_pair(event.event_type)) {
    // The loss of its connection is what the log tells: these may come in any number.
    spdlog::trace("{}: queue pair {}: {}", device, event.element.qp->qp_num, what);
  } else if (is_of_port(event.event_type)) {
    const bool is_down = event.event_type == IBV_EVENT_PORT_ERR;
    spdlog::log(is_down ? spdlog::level::warn : spdlog::level::info, "{} port {}: {}", device,
                event.element.port_num, what);
  } else {
    spdlog::error("{}: {}", device, what);
  }
}

}  // namespace rdmablk::target
