#pragma once

#include <infiniband/verbs.h>

#include <asio/io_context.hpp>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "common/cm/devices.h"
#include "common/cm/settings.h"
#include "common/socket_address.h"
#include "common/verbs/completion_queue.h"
#include "common/verbs/protection_domain.h"
#include "common/verbs/queue_pair.h"

/// Connection set-up: how two queue pairs find each other. The layers above see this header alone
/// and do not know whether rdma_cm or something else is behind it.
namespace rdmablk::cm {

/// The longest private data of a request to connect, in bytes: what RDMA_PS_TCP leaves on
/// InfiniBand and RoCE (rdma_connect(3)).
inline constexpr std::size_t kMaxPrivateData = 56;

/// The longest private data of a rejection, in bytes (rdma_reject(3)).
inline constexpr std::size_t kMaxRejectData = 148;

/// The most READs that a queue pair has outstanding, whatever the device could do.
inline constexpr std::uint8_t kMaxReadDepth = 64;

enum class EventType {
  resolved,        ///< the peer's address and the way to it are known; device() answers
  established,     ///< the queue pair may be used
  rejected,        ///< the peer said no: `refusal` and `data` say why
  failed,          ///< the peer cannot be reached: `error`
  disconnected,    ///< the peer is gone, or disconnected, or its address moved elsewhere
  device_removed,  ///< the device is going away; the connection must be destroyed
};

enum class Refusal {
  by_peer,      ///< the program there refused; `data` is its private data
  no_listener,  ///< nobody listens on that port
  stale,        ///< the peer remembers an older connection with this number; worth another try
  other,
};

struct Event {
  EventType type;
  int error = 0;  ///< errno value for `failed`
  Refusal refusal = Refusal::other;
  std::span<const std::byte>
      data{};              ///< the peer's private data, padded; valid during the call only
  bool in_error = false;   ///< `disconnected`: the device had put the queue pair in error before
  std::string_view why{};  ///< `failed`, `rejected`: more than `error` says, for people; else empty
};

class Connection;

/// Is told what happens to a connection, by the io_context of its manager. It may destroy the
/// connection.
class EventHandler {
 public:
  virtual ~EventHandler() = default;
  virtual void on_event(Connection& connection, const Event& event) = 0;
};

/// One end of a connection and its queue pair. Used by one thread, but for the queue pair, which
/// another may post to. Destroying it destroys the queue pair: whoever posts must have stopped.
class Connection {
 public:
  Connection() = default;
  virtual ~Connection() = default;
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  /// The device it runs over; known to the connecting end after `resolved`.
  virtual ibv_context* device() const noexcept = 0;

  /// "address:port" of the peer.
  virtual std::string peer() const = 0;

  /// Makes the queue pair. Once, after `resolved` or in on_request(), before connect() or accept().
  /// Post receives to it before either. Throws SystemError.
  virtual verbs::QueuePair& create_queue_pair(const verbs::ProtectionDomain& pd,
                                              const verbs::CompletionQueue& cq,
                                              const verbs::QueuePairOptions& options) = 0;
  virtual verbs::QueuePair& queue_pair() noexcept = 0;

  /// Destroys the queue pair: afterwards the device touches no memory of its work requests. By the
  /// thread that posts to it.
  virtual void destroy_queue_pair() noexcept = 0;

  /// Asks the peer for the connection; `established`, `rejected` or `failed` follows, sometimes
  /// after minutes: own a timer.
  /// @param private_data at most kMaxPrivateData bytes. Throws SystemError.
  virtual void connect(std::span<const std::byte> private_data) = 0;

  /// Accepts the peer's request; `established` or `failed` follows. Requests of the peer may arrive
  /// before. Throws SystemError.
  /// @param handler told of what follows; outlives the connection.
  virtual void accept(EventHandler& handler) = 0;

  /// Refuses the peer's request. Destroying a connection that was not accepted refuses it without a
  /// word.
  /// @param data the reason, at most kMaxRejectData bytes.
  virtual void reject(std::span<const std::byte> data) noexcept = 0;

  /// Ends it in an orderly way: everything outstanding on the queue pair completes in error, and
  /// both ends see `disconnected`. Does nothing when it is down already.
  virtual void disconnect() noexcept = 0;
};

/// Is told of requests to connect, by the io_context of the manager.
class RequestHandler {
 public:
  virtual ~RequestHandler() = default;

  /// @param connection to be accepted or refused, now or later.
  /// @param private_data the peer's, padded with zeroes by some transports.
  virtual void on_request(std::unique_ptr<Connection> connection,
                          std::span<const std::byte> private_data) = 0;
};

/// Waits for requests until it is destroyed.
class Listener {
 public:
  Listener() = default;
  virtual ~Listener() = default;
  Listener(const Listener&) = delete;
  Listener& operator=(const Listener&) = delete;

  /// The address it listens on, with the port that was chosen when zero was asked for.
  virtual SocketAddress address() const = 0;

  /// The device that the address belongs to; null when it listens on all.
  virtual ibv_context* device() const noexcept = 0;
};

/// Makes connections. Used by the thread that runs the io_context that it was made with; outlives
/// what it made. Errors thrown by handlers come out of that io_context's run.
class ConnectionManager {
 public:
  ConnectionManager() = default;
  virtual ~ConnectionManager() = default;
  ConnectionManager(const ConnectionManager&) = delete;
  ConnectionManager& operator=(const ConnectionManager&) = delete;

  /// The devices that connections may come over, as they were when they were last looked at.
  virtual std::span<ibv_context* const> devices() const noexcept = 0;

  /// The same, to be looked at; shared with other managers. Null: they never change.
  virtual std::shared_ptr<Devices> shared_devices() const noexcept { return nullptr; }

  /// Destroys what it still has itself of a device that is gone, behind connections and listeners
  /// that are destroyed: see DeviceWatch::let_go().
  virtual void forget(const ibv_context* /*device*/) noexcept {}

  /// Starts to listen. A wildcard takes its own address family only. Throws SystemError with
  /// EADDRINUSE when the port is taken, Error for other reasons.
  /// @param handler outlives the listener.
  virtual std::unique_ptr<Listener> listen(const SocketAddress& address,
                                           RequestHandler& handler) = 0;

  /// Starts to look for the way to a peer; `resolved` or `failed` follows. Throws SystemError.
  /// @param handler outlives the connection.
  virtual std::unique_ptr<Connection> open(const SocketAddress& peer, EventHandler& handler) = 0;
};

/// Makes a manager of its own devices.
/// @param io of the control thread; outlives the manager. Throws Error when this host has no RDMA
/// device, and UsageError for a setting that the method has no place for.
std::unique_ptr<ConnectionManager> make_manager(Method method, asio::io_context& io,
                                                const Settings& settings = {});

using Managers = std::map<Method, std::unique_ptr<ConnectionManager>>;

/// Makes one of each method, which share their devices. Throws as make_manager() does.
/// @pre there is a method.
Managers make_managers(const std::set<Method>& methods, asio::io_context& io,
                       const Settings& settings = {});

}  // namespace rdmablk::cm
