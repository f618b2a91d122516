#pragma once

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "common/cm/connection.h"
#include "common/descriptor_watch.h"
#include "common/lifetime.h"
#include "common/protocol/private_data.h"
#include "common/socket_address.h"
#include "target/counters.h"
#include "target/device_selection.h"
#include "target/export.h"
#include "target/io_threads.h"
#include "target/limits.h"
#include "target/options.h"
#include "target/queue_drain.h"
#include "target/session.h"
#include "target/slot_budget.h"
#include "target/target_device.h"

namespace rdmablk::target {

/// The whole target: exports on devices, a listener, and the sessions that come. Used by one
/// thread.
class Server final : private cm::RequestHandler, private SessionOwner {
 public:
  /// Makes and registers the exports.
  /// @param manager outlives the server. Throws Error.
  Server(cm::ConnectionManager& manager, const Options& options);
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Listens and serves until SIGTERM, SIGINT or SIGHUP, takes leave of the sessions, writes back
  /// what resident exports hold in memory alone, and returns. Throws Error, also when data is lost.
  void run();

 private:
  void on_request(std::unique_ptr<cm::Connection> connection,
                  std::span<const std::byte> private_data) override;
  void on_session_over(Session& session) override;

  std::optional<protocol::QueueRefusal> answer(std::unique_ptr<cm::Connection>& connection,
                                               std::span<const std::byte> private_data);
  std::optional<protocol::QueueRefusal> open_session(std::unique_ptr<cm::Connection>& connection);
  std::optional<protocol::QueueRefusal> open_queue(std::unique_ptr<cm::Connection>& connection,
                                                   const protocol::QueueRequest& request);
  void refuse(cm::Connection* connection, const protocol::QueueRefusal& refusal);
  const TargetDevice* find_device(const cm::Connection& connection) const;
  std::uint32_t next_session_id();
  void listen();
  void wait_for_signal();
  void shut_down();
  void make_exports(const Options& options, std::span<ibv_context* const> devices);
  void drain_queues();
  void settle_exports();
  void mark_clean(std::span<const Export* const> unsettled);
  void remove(std::uint32_t session);

  cm::ConnectionManager& manager_;
  Limits limits_;
  Counters counters_;
  asio::io_context io_{1};
  std::vector<SocketAddress> addresses_;
  SlotBudget slot_budget_;
  std::optional<StateDirectory> state_;
  std::vector<std::unique_ptr<Export>> exports_;
  std::vector<std::unique_ptr<TargetDevice>> devices_;
  QueueDrain drain_;
  std::optional<IoThreads> io_threads_;
  std::optional<SessionEnvironment> environment_;
  std::uint32_t last_session_ = 0;
  bool stopping_ = false;
  bool settling_ = false;
  std::optional<asio::signal_set> signals_;  ///< until it serves, signals end the process
  asio::steady_timer goodbye_{io_};
  Listeners listeners_;
  std::map<std::uint32_t, std::unique_ptr<Session>> sessions_;
  Lifetime lifetime_;
};

}  // namespace rdmablk::target
