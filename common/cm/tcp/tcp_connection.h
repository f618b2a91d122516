#pragma once

#include <asio/steady_timer.hpp>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/cm/connection.h"
#include "common/cm/devices.h"
#include "common/cm/tcp/conversation.h"
#include "common/cm/tcp/port_place.h"
#include "common/cm/tcp/reach_guard.h"

namespace rdmablk::cm::tcp {

/// A connection whose ends find each other over TCP. The TCP connection stays as long as it does:
/// its end tells that the peer has disconnected, or has died. It is not probed meanwhile: the
/// network that it runs over may fail while the RDMA network does not.
class TcpConnection final : public Connection {
 public:
  /// Looks for the peer, and for the device to reach it from.
  /// @param devices outlive this, as the settings do.
  TcpConnection(asio::io_context& io, const Devices& devices, const Settings& settings,
                const SocketAddress& peer, EventHandler& handler);

  /// Takes a request to connect, and the TCP connection that it came over.
  /// @param guard is told how long it took to find the peer; outlives this, as the settings do.
  /// @param request of the peer. @param place to answer from.
  TcpConnection(std::unique_ptr<Conversation> conversation, const Settings& settings,
                ReachGuard& guard, const Request& request, const PortPlace& place);

  ~TcpConnection() override;
  TcpConnection(const TcpConnection&) = delete;
  TcpConnection& operator=(const TcpConnection&) = delete;

  ibv_context* device() const noexcept override { return place_.device; }
  std::string peer() const override { return peer_.text(); }
  verbs::QueuePair& create_queue_pair(const verbs::ProtectionDomain& pd,
                                      const verbs::CompletionQueue& cq,
                                      const verbs::QueuePairOptions& options) override;
  verbs::QueuePair& queue_pair() noexcept override { return *qp_; }
  void destroy_queue_pair() noexcept override;
  void connect(std::span<const std::byte> private_data) override;
  void accept(EventHandler& handler) override;
  void reject(std::span<const std::byte> data) noexcept override;
  void disconnect() noexcept override;

 private:
  enum class State {
    looking,     ///< for the peer and the device
    requesting,  ///< waits for the peer's answer
    requested,   ///< this end is to answer
    accepting,   ///< waits for the peer's READY
    connected,
    over,
  };

  void on_connected(const asio::error_code& error);
  void read();
  void on_received(const Conversation::Received& received);
  void on_answer(const Conversation::Received& received);
  void on_ready(const Conversation::Received& received);
  void find_peer();
  void start_patience();
  void tell(const Event& event);
  void fail(int error, std::string_view why = {});
  void lose();
  bool is_in_error() noexcept;
  Endpoint own_endpoint();

  const Devices* devices_ = nullptr;  ///< of the connecting end
  const Settings& settings_;
  ReachGuard* guard_ = nullptr;  ///< of the accepting end
  std::unique_ptr<Conversation> conversation_;
  SocketAddress peer_;
  EventHandler* handler_ = nullptr;
  State state_;
  PortPlace place_;
  Endpoint own_;
  Endpoint peer_endpoint_;
  asio::steady_timer patience_;  ///< with a peer that was accepted
  std::mutex qp_mutex_;          ///< its destruction against the control thread
  std::optional<verbs::QueuePair> qp_;
  Lifetime lifetime_;
};

}  // namespace rdmablk::cm::tcp
