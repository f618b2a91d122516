#include "target/served_devices.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <asio/post.hpp>
#include <utility>

#include "common/counted.h"
#include "common/verbs/context.h"

namespace rdmablk::target {
namespace {

/// A device may be there before its address is.
constexpr std::chrono::seconds kRetry{1};

std::vector<cm::ConnectionManager*> all_of(const cm::Managers& managers) {
  std::vector<cm::ConnectionManager*> all;
  for (const auto& [method, manager] : managers) all.push_back(manager.get());
  return all;
}

}  // namespace

ServedDevices::ServedDevices(asio::io_context& io, const cm::Managers& managers, std::string wanted,
                             Exports& exports, Registrar& registrar, Listening& listening)
    : io_(io),
      managers_(managers),
      wanted_(std::move(wanted)),
      exports_(exports),
      registrar_(registrar),
      listening_(listening),
      retry_(io) {}

/// Any thread may be the last that uses it.
std::shared_ptr<TargetDevice> ServedDevices::share(ibv_context* device) {
  return std::make_shared<TargetDevice>(device, [&io = io_, told = lifetime_.guard([this, device] {
                                          let_go(device);
                                        })] { asio::post(io, told); });
}

void ServedDevices::begin(Sessions& sessions, std::function<void()> changed) {
  sessions_ = &sessions;
  changed_ = std::move(changed);
  for (const auto& device : exports_.devices()) watch_events(device->context());
  cm::DeviceHandler& handler = *this;
  watch_.emplace(io_, all_of(managers_), handler);
}

void ServedDevices::end() noexcept {
  watch_.reset();
  events_.clear();
  retry_.cancel();
}

void ServedDevices::look() {
  if (watch_) watch_->look();
}

void ServedDevices::watch_events(ibv_context* device) {
  events_.emplace(device,
                  std::make_unique<verbs::DeviceEvents>(io_, device, [this](ibv_event_type type) {
                    if (type == IBV_EVENT_DEVICE_FATAL && watch_) watch_->look_soon();
                  }));
}

void ServedDevices::on_device_gone(ibv_context* device) {
  const std::string name = verbs::device_name(device);
  leaving_.emplace(device, name);
  events_.erase(device);
  listening_.drop(device);
  const auto removed = exports_.remove_device(device);
  if (removed == nullptr) return let_go(device);  // nothing was made with it
  away_.insert(name);
  spdlog::warn("RDMA device {} was removed", name);
  const auto losses =
      sessions_->end_device(device, fmt::format("RDMA device {} was removed", name));
  if (losses.sessions + losses.queues > 0) {
    spdlog::warn("{}: {} and {} over it have ended", name, counted(losses.sessions, "session"),
                 counted(losses.queues, "I/O queue"));
  }
  removed->catalog().void_grants();  // which keep the device, as it keeps them
  registrar_.drop(device);
  changed_();
}

void ServedDevices::on_device_come(ibv_context* /*device*/) {
  resume();
}

/// Whatever can be listened on and served by now.
void ServedDevices::resume() {
  listening_.resume();
  for (ibv_context* const device : managers_.begin()->second->devices()) {
    const bool is_wanted = wanted_.empty() || verbs::device_name(device) == wanted_;
    if (is_wanted && listening_.is_reached_over(device) &&
        exports_.find_device(device) == nullptr) {
      add(device);
    }
  }
  if (!listening_.lacks_some() || away_.empty()) return;
  retry_.expires_after(kRetry);
  retry_.async_wait(lifetime_.guard([this](const asio::error_code& error) {
    if (!error && watch_) resume();
  }));
}

void ServedDevices::add(ibv_context* device) {
  const std::string name = verbs::device_name(device);
  try {
    exports_.add_device(share(device));
    watch_events(device);
  } catch (const std::exception& error) {
    exports_.remove_device(device);
    return spdlog::error("RDMA device {} cannot be served: {}", name, error.what());
  }
  const bool is_back = away_.erase(name) > 0;
  spdlog::info("RDMA device {} is {}, and is served", name, is_back ? "back" : "new");
  changed_();
}

/// The last who had made something with it has destroyed that.
void ServedDevices::let_go(ibv_context* device) noexcept {
  const auto found = leaving_.find(device);
  if (found == leaving_.end() || !watch_) return;
  spdlog::info("RDMA device {}: nothing of it is in use any more", found->second);
  leaving_.erase(found);
  watch_->let_go(device);
}

}  // namespace rdmablk::target
