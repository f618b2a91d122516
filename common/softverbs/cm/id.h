#pragma once

#include <rdma/rdma_cma.h>

#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "common/softverbs/cm/address_resolution.h"
#include "common/softverbs/cm/event_channel.h"
#include "common/softverbs/cm/port_registry.h"
#include "common/softverbs/cm/process.h"
#include "common/softverbs/cm/socket_address.h"
#include "common/softverbs/cm/wire_message.h"

namespace softverbs::cm {

/// Where an id stands between creation and the end of its connection; each call is allowed in
/// certain states and answers EINVAL in others.
enum class IdState : uint8_t {
  kIdle,
  kBound,
  kAddressQuery,
  kAddressResolved,
  kRouteQuery,
  kRouteResolved,
  kConnect,
  kDisconnected,
  kListen,
  kDeviceRemoved,
};

/// Where the handshake with the peer stands (InfiniBand volume 1, 12.9).
enum class LinkState : uint8_t {
  kNone,
  kRequestSent,
  kReplyReceived,
  kRequestReceived,
  kReplySent,
  kEstablished,
  kDisconnectSent,
  kDisconnectReceived,
  kTimewait,
};

/// What the two queue pairs of a connection must know of each other.
struct LinkAttributes {
  uint32_t local_psn = 0;  ///< what the peer starts to send with
  uint32_t remote_psn = 0;
  uint32_t remote_qp_num = 0;
  ibv_gid remote_gid{};
  uint8_t mtu = 0;
  uint8_t responder_resources = 0;
  uint8_t initiator_depth = 0;
  uint8_t retry_count = 0;
  uint8_t rnr_retry_count = 0;  ///< chosen by the peer: it is the one that is not ready
};

/// A socket that came to a listener and has not said yet what it wants.
struct Caller {
  FileDescriptor socket;
  ProgressThread::Token watch = 0;
};

/// A communication identifier: the public structure and what the library keeps with it.
/// Everything needs the process's lock; fields of the public part change only inside calls of the
/// id's user, never in the background thread.
class Id : public rdma_cm_id {
 public:
  Id(EventChannel& event_channel, void* user_context, rdma_port_space port_space);
  Id(const Id&) = delete;
  Id& operator=(const Id&) = delete;
  /// Closes the connection: the peer sees that as a disconnect, a reject or a refusal, depending
  /// on how far the two had come.
  ~Id();

  static Id& of(rdma_cm_id* id) { return *static_cast<Id*>(id); }

  /// Queues an event for the id's user; an id that was not reported yet holds it back.
  void post(std::unique_ptr<Event> posted);
  void post(rdma_cm_event_type type, int event_status = 0);
  /// Marks the new id of a connect request as known to the user and lets held events go.
  void report(EventChannel& event_channel);

  /// Runs `action` on this id in the background thread, unless the id is gone by then.
  void later(std::function<void(Id&)> action);
  /// The timer of the handshake; one at a time, a new one replaces the old.
  void start_timer(ProgressThread::Clock::duration delay, std::function<void(Id&)> action);
  void stop_timer();

  /// Watches the socket for messages and for its end.
  void watch_socket(std::function<void(Id&)> readable);
  void unwatch_socket();
  /// Ends all that goes on and drops what is queued; the id can only be freed after that.
  void shut_down();

  /// Takes over `address` as the local one and, unless it is a wildcard, its device.
  /// @return 0, or -ENODEV when that is not there: then nothing changes.
  int set_source(const SocketAddress& address);
  /// Its device is gone: it is told so, and nothing more comes of it.
  void on_device_removal();
  /// Whether what it would send or receive is lost.
  [[nodiscard]] bool is_cut_off() const { return device != nullptr && device->port_down; }
  /// Copies addresses and device into the public part, as far as they are known.
  void publish_addresses();
  /// Fills the one path record of the public part. @pre device and destination are known
  void publish_route();

  [[nodiscard]] bool iwarp() const { return device != nullptr && device->iwarp; }

  uint64_t serial = 0;
  IdState state = IdState::kIdle;
  LinkState link = LinkState::kNone;
  bool reported = true;
  bool synchronous = false;
  bool connect_error = false;  ///< CONNECT_ERROR was shown, nothing of this connection follows
  bool peer_gone = false;
  int unacknowledged = 0;

  EventChannel* home = nullptr;  ///< null once the channel was destroyed under the id
  std::unique_ptr<EventChannel> own_channel;
  std::deque<std::unique_ptr<Event>> held;

  PortClaim claim;
  SocketAddress source;
  std::optional<SocketAddress> destination;
  std::shared_ptr<Device> device;
  FileDescriptor socket;
  PortMark port_mark;
  LinkAttributes attributes;
  /// What this end asks for, as the user's last connect or accept said.
  uint8_t responder_resources = 0;
  uint8_t initiator_depth = 0;

  uint8_t type_of_service = 0;
  uint8_t ack_timeout = 0;  ///< 0: the default
  int backlog = 0;
  std::unordered_map<int, Caller> callers;  ///< by descriptor

  std::unique_ptr<ibv_qp_init_attr> endpoint_attr;  ///< rdma_create_ep of a listener
  std::vector<uint8_t> connect_prefix;              ///< rdma_create_ep: ai_connect

 private:
  std::unique_ptr<ibv_sa_path_rec> path_;
  ProgressThread::Token watch_ = 0;
  ProgressThread::Token timer_ = 0;
};

}  // namespace softverbs::cm
