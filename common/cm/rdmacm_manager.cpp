#include <fmt/format.h>
#include <rdma/rdma_cma.h>

#include <array>
#include <cerrno>
#include <cstring>

#include "common/cm/device_addresses.h"
#include "common/cm/id_disposal.h"
#include "common/cm/managers.h"
#include "common/cm/rdmacm_connection.h"
#include "common/descriptor_watch.h"
#include "common/error.h"
#include "common/known_error.h"
#include "common/unique_fd.h"
#include "common/verbs/device_list.h"

namespace rdmablk::cm {
namespace {

/// Requests to connect that the kernel holds until they are handled.
constexpr int kBacklog = 512;

/// The longest private data that any event carries (an iWARP request).
constexpr std::size_t kMaxEventData = 512;

/// Events that are handled in a turn: peers that go on connecting must not keep timers and messages
/// waiting.
constexpr int kEventsATurn = 64;

class EventChannel {
 public:
  EventChannel() : channel_(rdma_create_event_channel()) {
    if (!channel_) {
      const int error = errno;
      throw KnownError(ENODEV, fmt::format("cannot use RDMA on this host: {}; {}",
                                           errno_text(error), verbs::no_device_hint()));
    }
    set_nonblocking(channel_->fd);
  }
  rdma_event_channel* get() const noexcept { return channel_.get(); }

 private:
  struct Destroy {
    void operator()(rdma_event_channel* channel) const noexcept {
      rdma_destroy_event_channel(channel);
    }
  };
  std::unique_ptr<rdma_event_channel, Destroy> channel_;
};

CmId create_id(const EventChannel& channel) {
  rdma_cm_id* id = nullptr;
  if (rdma_create_id(channel.get(), &id, nullptr, RDMA_PS_TCP) != 0) {
    throw SystemError("create an identifier of rdma_cm", errno);
  }
  return CmId(id);
}

class RdmacmListener final : public Listener, public CmIdOwner {
 public:
  RdmacmListener(CmId id, IdDisposal& disposal, const Settings& settings,
                 const SocketAddress& address, RequestHandler& handler)
      : id_(std::move(id)), disposal_(disposal), settings_(settings), handler_(handler) {
    id_->context = static_cast<CmIdOwner*>(this);
    set_address_family_only();
    SocketAddress bound = address;
    if (rdma_bind_addr(id_.get(), bound.get()) != 0) fail(address);
    if (rdma_listen(id_.get(), kBacklog) != 0) fail(address);
  }

  SocketAddress address() const override { return SocketAddress(*rdma_get_local_addr(id_.get())); }
  ibv_context* device() const noexcept override { return id_->verbs; }

  /// A listener's own events (its device was removed) leave nothing to do.
  void handle(const RdmacmEvent& /*event*/) override {}

  void request(CmId id, const RdmacmEvent& event) override {
    handler_.on_request(std::make_unique<RdmacmConnection>(std::move(id), disposal_, settings_,
                                                           event.peer_read_depth),
                        event.data);
  }

 private:
  /// The IPv6 wildcard takes IPv4 as well on some devices, but not on soft-iWARP: so on none.
  void set_address_family_only() {
    int on = 1;
    if (rdma_set_option(id_.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_AFONLY, &on, sizeof on) != 0) {
      throw SystemError("restrict a listener to its address family", errno);
    }
  }

  [[noreturn]] static void fail(const SocketAddress& address) {
    const int error = errno;
    const std::string doing = fmt::format("listen on {}", address.text());
    // The kernel says EADDRNOTAVAIL when the port is taken and one of the two is a wildcard.
    if (error == EADDRNOTAVAIL && address.is_wildcard()) throw SystemError(doing, EADDRINUSE);
    if (error == EADDRNOTAVAIL) {
      throw Error(
          fmt::format("cannot {}: its port is in use on all addresses, or no RDMA device "
                      "has this address; `rdmablk devices` shows what there is",
                      doing));
    }
    if (error == ENODEV) {
      throw Error(
          fmt::format("cannot {}: no RDMA device has this address; `rdmablk devices` shows what "
                      "there is",
                      doing));
    }
    throw SystemError(doing, error);
  }

  CmId id_;
  IdDisposal& disposal_;
  const Settings& settings_;
  RequestHandler& handler_;
};

class RdmacmManager final : public ConnectionManager {
 public:
  RdmacmManager(asio::io_context& io, std::shared_ptr<Devices> devices, Settings settings)
      : io_(io),
        settings_(std::move(settings)),
        devices_(std::move(devices)),
        watch_(io, channel_.get()->fd, [this] { process(); }) {
    if (!settings_.device.empty()) find_device(devices_->get(), settings_.device);
  }

  std::span<ibv_context* const> devices() const noexcept override { return devices_->get(); }
  std::shared_ptr<Devices> shared_devices() const noexcept override { return devices_; }
  void forget(const ibv_context* device) noexcept override { disposal_.forget(device); }

  std::unique_ptr<Listener> listen(const SocketAddress& address, RequestHandler& handler) override {
    return std::make_unique<RdmacmListener>(create_id(channel_), disposal_, settings_, address,
                                            handler);
  }

  std::unique_ptr<Connection> open(const SocketAddress& peer, EventHandler& handler) override {
    std::optional<SocketAddress> source;
    if (has_source(settings_)) source = source_address(devices(), settings_, peer);
    return std::make_unique<RdmacmConnection>(io_, create_id(channel_), disposal_, settings_,
                                              source, peer, handler);
  }

 private:
  void process() {
    rdma_cm_event* event = nullptr;
    for (int i = 0; i < kEventsATurn && rdma_get_cm_event(channel_.get(), &event) == 0; ++i) {
      take(event);
    }
    disposal_.retry();
  }

  /// Copies and acknowledges the event before anything else: an identifier with an unacknowledged
  /// one cannot be destroyed.
  void take(rdma_cm_event* event) {
    rdma_cm_id* const id = event->id;
    rdma_cm_id* const listen_id = event->listen_id;
    std::array<std::byte, kMaxEventData> data;
    const auto& param = event->param.conn;
    const bool has_data = param.private_data != nullptr;
    const std::size_t size =
        has_data ? std::min<std::size_t>(param.private_data_len, data.size()) : 0;
    if (has_data) std::memcpy(data.data(), param.private_data, size);
    // The event of a peer's request shows what the peer wants to initiate as our resources.
    const RdmacmEvent copy{
        event->event, event->status, param.responder_resources, {data.data(), size}};
    rdma_ack_cm_event(event);
    dispatch(id, listen_id, copy);
    if (copy.type == RDMA_CM_EVENT_DEVICE_REMOVAL) devices_->suspect();
  }

  static void dispatch(rdma_cm_id* id, rdma_cm_id* listen_id, const RdmacmEvent& event) {
    if (event.type == RDMA_CM_EVENT_CONNECT_REQUEST) {
      static_cast<CmIdOwner*>(listen_id->context)->request(CmId(id), event);
    } else if (id->context != nullptr) {  // null: nobody's any more
      static_cast<CmIdOwner*>(id->context)->handle(event);
    }
  }

  asio::io_context& io_;
  Settings settings_;
  std::shared_ptr<Devices> devices_;
  EventChannel channel_;
  IdDisposal disposal_;
  DescriptorWatch watch_;
};

/// What of an address on the RDMA network rdma_cm decides alone.
void refuse_settings(const Settings& settings) {
  const char* const refused = settings.pkey_index      ? "partition key"
                              : settings.service_level ? "service level"
                              : settings.path_mtu      ? "path MTU"
                                                       : nullptr;
  if (refused == nullptr) return;
  throw UsageError(fmt::format(
      "with rdma_cm the {} comes from the network's own configuration; --cm tcp takes one",
      refused));
}

}  // namespace

std::unique_ptr<ConnectionManager> make_rdmacm(asio::io_context& io,
                                               std::shared_ptr<Devices> devices,
                                               const Settings& settings) {
  refuse_settings(settings);
  return std::make_unique<RdmacmManager>(io, std::move(devices), settings);
}

}  // namespace rdmablk::cm
