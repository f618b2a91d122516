#include "common/cm/device_watch.h"

#include <linux/netlink.h>
#include <sys/socket.h>

#include <array>
#include <asio/post.hpp>
#include <exception>
#include <string_view>

#include "common/thread_log.h"

namespace rdmablk::cm {
namespace {

/// Who may open the node of a device is settled a moment after it has come; librdmacm tries once.
constexpr std::chrono::milliseconds kSettling{1000};

/// The multicast group of what the kernel itself says.
constexpr unsigned kKernelGroup = 1;

/// What it says of everything that has a node for verbs.
constexpr std::string_view kVerbsPath = "/infiniband_verbs/";

/// @return a socket that gets the kernel's messages about devices; none where that is refused.
UniqueFd open_messages() {
  UniqueFd fd(
      ::socket(AF_NETLINK, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT));
  sockaddr_nl address{};
  address.nl_family = AF_NETLINK;
  address.nl_groups = kKernelGroup;
  if (fd && ::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address) != 0)
    fd.reset();
  return fd;
}

}  // namespace

DeviceWatch::DeviceWatch(asio::io_context& io, std::vector<ConnectionManager*> managers,
                         DeviceHandler& handler)
    : io_(io),
      managers_(std::move(managers)),
      handler_(handler),
      devices_(managers_.front()->shared_devices()),
      timer_(io) {
  if (!devices_) return;
  devices_->on_suspicion([this] { look_soon(); });
  messages_ = open_messages();
  if (messages_) watch_.emplace(io, messages_.get(), [this] { take_messages(); });
  wait(kPeriod);
}

DeviceWatch::~DeviceWatch() {
  if (devices_) devices_->on_suspicion(nullptr);
}

void DeviceWatch::wait(std::chrono::milliseconds time) {
  timer_.expires_after(time);
  timer_.async_wait(lifetime_.guard([this](const asio::error_code& error) {
    if (!error) look();
  }));
}

void DeviceWatch::look_soon() {
  asio::post(io_, lifetime_.guard([this] { look(); }));
}

void DeviceWatch::look() {
  if (!devices_) return;
  wait(kPeriod);
  DeviceChanges changes;
  try {
    changes = devices_->look();
  } catch (const std::exception& error) {
    return thread_log().warn("cannot look which RDMA devices there are: {}", error.what());
  }
  for (ibv_context* const device : changes.gone) handler_.on_device_gone(device);
  for (ibv_context* const device : changes.come) handler_.on_device_come(device);
}

/// "ACTION@PATH", and details.
void DeviceWatch::take_messages() {
  std::array<char, 4096> buffer{};
  bool is_removed = false;
  bool is_added = false;
  while (true) {
    const auto size = ::recv(messages_.get(), buffer.data(), buffer.size(), 0);
    if (size <= 0) break;
    const std::string_view text(buffer.data(), static_cast<std::size_t>(size));
    const auto head = text.substr(0, text.find('\0'));
    if (head.find(kVerbsPath) == std::string_view::npos) continue;
    (head.starts_with("remove@") ? is_removed : is_added) = true;
  }
  if (is_removed) look();
  if (is_added) wait(kSettling);
}

void DeviceWatch::let_go(ibv_context* device) noexcept {
  for (ConnectionManager* const manager : managers_) manager->forget(device);
  if (devices_) devices_->let_go(device);
}

}  // namespace rdmablk::cm
