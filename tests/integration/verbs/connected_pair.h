#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <set>

#include "common/cm/connection.h"
#include "common/cm/setting_options.h"
#include "common/verbs/completion_channel.h"
#include "common/verbs/completion_queue.h"
#include "common/verbs/protection_domain.h"
#include "common/verbs/queue_pair.h"

namespace rdmablk::testing {

/// The address that tests listen on: RDMABLK_TEST_ADDRESS, else 127.0.0.1 (the software device).
SocketAddress test_address();

/// One end of a connection, with what its queue pair needs.
struct End {
  std::unique_ptr<verbs::ProtectionDomain> pd;
  std::unique_ptr<verbs::CompletionChannel> events;
  std::unique_ptr<verbs::CompletionQueue> cq;
  std::unique_ptr<cm::Connection> connection;  // owns the queue pair: goes first

  void prepare(ibv_context* device);
  verbs::QueuePair& qp() { return connection->queue_pair(); }
};

/// Two queue pairs of this process, connected over the device under test.
class ConnectedPair final : public cm::EventHandler, public cm::RequestHandler {
  // These outlive the connections.
  asio::io_context io_{1};
  std::unique_ptr<cm::ConnectionManager> manager_ = cm::make_manager(cm::default_method(), io_);

 public:
  /// @param send_requests of the initiator's queue pair. @param receive_requests of both.
  explicit ConnectedPair(unsigned send_requests = 16, unsigned receive_requests = 4);
  ~ConnectedPair() override;
  ConnectedPair(const ConnectedPair&) = delete;
  ConnectedPair& operator=(const ConnectedPair&) = delete;

  End initiator;
  End target;

  bool is_iwarp() const;

  /// Handles connection events until `done`; throws when nothing happens for long.
  void run_until(const std::function<bool()>& done);

  /// Waits for one completion at an end, handling connection events meanwhile: some devices
  /// complete what failed only once the connection has ended.
  ibv_wc wait(End& end);

  /// Whether this end has seen the connection end; the ends see it one after the other.
  bool is_disconnected(const End& end) const {
    return disconnected_.contains(end.connection.get());
  }

 private:
  void on_event(cm::Connection& connection, const cm::Event& event) override;
  void on_request(std::unique_ptr<cm::Connection> connection,
                  std::span<const std::byte> private_data) override;

  verbs::QueuePairOptions options_;
  std::unique_ptr<cm::Listener> listener_;
  int established_ = 0;
  std::set<const cm::Connection*> disconnected_;
};

/// A work request of one segment.
struct Work {
  ibv_sge segment;
  ibv_send_wr request{};

  Work(ibv_wr_opcode opcode, std::byte* data, std::size_t size, std::uint32_t lkey,
       std::uint64_t remote_address, std::uint32_t rkey);

  /// Posts it. @return 0 or an errno value.
  int post(End& end);
};

}  // namespace rdmablk::testing
