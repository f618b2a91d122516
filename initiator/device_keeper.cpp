#include "initiator/device_keeper.h"

#include <fmt/format.h>

#include "common/error.h"
#include "common/thread_log.h"
#include "common/verbs/context.h"
#include "initiator/rdma_session.h"

namespace rdmablk::initiator {

DeviceKeeper::DeviceKeeper(RdmaSession& session)
    : session_(session), watch_(session.loop().io(), {&session.loop().connections()}, *this) {
  for (ibv_context* const device : session.loop().connections().devices()) watch_events(device);
}

DeviceKeeper::~DeviceKeeper() = default;

void DeviceKeeper::watch_events(ibv_context* device) {
  try {
    events_.try_emplace(device, session_.loop().io(), device,
                        [this, device](ibv_event_type type) { on_event(device, type); });
  } catch (const Error& error) {
    thread_log().warn("what {} reports goes unheard: {}", verbs::device_name(device), error.what());
  }
}

void DeviceKeeper::on_event(const ibv_context* device, ibv_event_type type) {
  const std::string name = verbs::device_name(device);
  switch (type) {
    case IBV_EVENT_DEVICE_FATAL:
      return watch_.look_soon();
    case IBV_EVENT_PORT_ERR:
      return session_.keeper().device_failed(name, fmt::format("the port of {} is down", name));
    case IBV_EVENT_PORT_ACTIVE:
      return session_.keeper().ask_again();
    default:
      return;
  }
}

void DeviceKeeper::on_device_come(ibv_context* device) {
  thread_log().info("RDMA device {} is there", verbs::device_name(device));
  watch_events(device);
  session_.keeper().ask_again();
}

void DeviceKeeper::on_device_gone(ibv_context* device) {
  const std::string why = fmt::format("the RDMA device {} was removed", verbs::device_name(device));
  events_.erase(device);
  gone_.push_back({device, session_.drop_device(device, why)});
  // What is left on it goes in the order of any loss, and the device after that.
  let_go();
}

void DeviceKeeper::let_go() noexcept {
  std::erase_if(gone_, [this](const Gone& gone) {
    if (!gone.use.expired() || session_.is_over(gone.device)) return false;
    watch_.let_go(gone.device);
    return true;
  });
}

}  // namespace rdmablk::initiator
