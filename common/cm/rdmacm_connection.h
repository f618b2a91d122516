#pragma once

#include <mutex>
#include <optional>

#include "common/cm/blocking_connect.h"
#include "common/cm/connection.h"
#include "common/cm/id_disposal.h"
#include "common/cm/nudge.h"

namespace rdmablk::cm {

/// An event, copied so that the original could be acknowledged.
struct RdmacmEvent {
  rdma_cm_event_type type;
  int status;
  std::uint8_t peer_read_depth;  ///< READs that a peer who asks for a connection wants outstanding
  std::span<const std::byte> data;
};

/// What the context of an identifier points to: who is told of its events.
class CmIdOwner {
 public:
  virtual ~CmIdOwner() = default;

  /// Handles an event of the identifier; its owner may be gone afterwards.
  virtual void handle(const RdmacmEvent& event) = 0;

  /// Handles a request that came to a listening identifier.
  /// @param id the identifier that was made for it.
  virtual void request(CmId id, const RdmacmEvent& event) = 0;
};

/// A connection that rdma_cm sets up.
class RdmacmConnection final : public Connection, public CmIdOwner {
 public:
  /// Takes an identifier that is not bound to a device yet, and starts to resolve `peer`.
  /// @param io of the thread that handles the events; outlives this.
  /// @param disposal gets the identifier at the end; outlives this, as the settings do.
  /// @param source the address to connect from, which says over which device; nothing: any.
  RdmacmConnection(asio::io_context& io, CmId id, IdDisposal& disposal, const Settings& settings,
                   std::optional<SocketAddress> source, const SocketAddress& peer,
                   EventHandler& handler);

  /// Takes the identifier of a request to connect.
  RdmacmConnection(CmId id, IdDisposal& disposal, const Settings& settings,
                   std::uint8_t peer_read_depth);

  ~RdmacmConnection() override;
  RdmacmConnection(const RdmacmConnection&) = delete;
  RdmacmConnection& operator=(const RdmacmConnection&) = delete;

  ibv_context* device() const noexcept override { return id_->verbs; }
  std::string peer() const override;
  verbs::QueuePair& create_queue_pair(const verbs::ProtectionDomain& pd,
                                      const verbs::CompletionQueue& cq,
                                      const verbs::QueuePairOptions& options) override;
  verbs::QueuePair& queue_pair() noexcept override { return *qp_; }
  void destroy_queue_pair() noexcept override;
  void connect(std::span<const std::byte> private_data) override;
  void accept(EventHandler& handler) override;
  void reject(std::span<const std::byte> data) noexcept override;
  void disconnect() noexcept override;

  void handle(const RdmacmEvent& event) override;
  void request(CmId /*id*/, const RdmacmEvent& /*event*/) override {}

 private:
  rdma_conn_param parameters(std::span<const std::byte> private_data) const;
  void set_traffic_class();
  void require_port(const std::string& doing) const;
  bool resolve_address(SocketAddress peer);
  void on_address_error(int error);
  bool is_over_wanted_device() const;
  void resolve_route();
  void on_connect_failed(int error);
  bool takes_nudges(const verbs::QueuePairOptions& options) const;
  void establish();
  void nudge() noexcept;
  void tell(EventType type, int error = 0);
  void tell_refusal(Refusal refusal, std::span<const std::byte> data);
  bool is_in_error() noexcept;
  [[noreturn]] void fail(const std::string& doing, int error);
  void lose();

  asio::io_context* io_ = nullptr;  ///< of the end that asks
  CmId id_;
  IdDisposal& disposal_;
  const Settings& settings_;
  std::optional<SocketAddress> source_;
  EventHandler* handler_ = nullptr;
  std::mutex qp_mutex_;  ///< its destruction against the control thread
  std::optional<verbs::QueuePair> qp_;
  std::optional<Nudge> nudge_;  ///< at the end that asked
  std::optional<BlockingConnect> connecting_;
  std::uint8_t peer_read_depth_ = 0;
  bool is_request_ = false;  ///< of a peer, and not accepted yet
  bool established_ = false;
  unsigned address_attempts_ = 0;
};

}  // namespace rdmablk::cm
