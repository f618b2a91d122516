#pragma once

#include <asio/io_context.hpp>
#include <asio/signal_set.hpp>
#include <asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "common/cm/connection.h"
#include "common/log_limiter.h"
#include "common/protocol/private_data.h"
#include "common/socket_address.h"
#include "target/admin_desk.h"
#include "target/administration.h"
#include "target/client_budgets.h"
#include "target/client_log.h"
#include "target/config_store.h"
#include "target/counters.h"
#include "target/counts.h"
#include "target/device_selection.h"
#include "target/export_changes.h"
#include "target/export_history.h"
#include "target/export_turns.h"
#include "target/exports.h"
#include "target/key_ring.h"
#include "target/limits.h"
#include "target/listening.h"
#include "target/options.h"
#include "target/queue_drain.h"
#include "target/registrar.h"
#include "target/reload.h"
#include "target/resizer.h"
#include "target/served_devices.h"
#include "target/service_manager.h"
#include "target/service_status.h"
#include "target/session_environment.h"
#include "target/sessions.h"
#include "target/succession_listener.h"
#include "target/target_figures.h"
#include "target/watchdog.h"
#include "target/watching.h"

namespace rdmablk::target {

/// How a target has come to its end.
struct ServerEnd {
  /// Who takes over; nothing: a signal ended it.
  std::optional<Successor> successor;
  std::vector<KeptMemory> memory;  ///< for the successor
};

/// The whole target: exports on devices, a listener, and the sessions that come. Used by one
/// thread.
class Server final : public Administration, private cm::RequestHandler, private SuccessionHandler {
 public:
  /// Makes and registers the exports.
  /// @param io of the control thread. @param managers one for each way to connect that the options
  /// name; they use `io`. All of these and service_manager outlive the server. @param inherited
  /// memory of exports that earlier processes left; all of it is for these. @param load reads the
  /// options again, for reload(). Throws Error.
  Server(asio::io_context& io, const cm::Managers& managers, const ServiceManager& service_manager,
         const Options& options, InheritedMemory inherited, Reload::Load load);
  ~Server() override;
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  /// Where it listens, while it serves: with the ports that were chosen.
  std::vector<SocketAddress> addresses() const;

  /// Listens and serves until SIGTERM or SIGINT, or until a successor asks for it, and
  /// takes leave of the sessions. Without a successor it then brings to the files of exports what
  /// they lack. Throws Error, also when data is lost.
  /// @param on_serving called when it listens.
  /// @return what to do next, once this is destroyed.
  ServerEnd run(const std::function<void()>& on_serving);

  std::vector<ExportStatus> exports() const override;
  std::vector<SessionStatus> sessions() const override;
  Counts counts() const override;
  void add_export(const ExportSpec& spec, ExportOrigin origin, Done done) override;
  void remove_export(const std::string& name, const RemoveOptions& options, Done done) override;
  void adopt_export(const std::string& name, ExportOrigin origin, Done done) override;
  void resize_export(const std::string& name, std::uint64_t size, Done done) override;
  bool evict(std::uint32_t session, const std::string& reason) override;
  void reload(Done done) override;

 private:
  void on_request(std::unique_ptr<cm::Connection> connection,
                  std::span<const std::byte> private_data) override;
  std::optional<std::string> refuse_successor(const SuccessionRequest& request) override;
  void on_successor(Successor successor) override;

  std::optional<protocol::QueueRefusal> answer(std::unique_ptr<cm::Connection>& connection,
                                               std::span<const std::byte> private_data);
  std::optional<protocol::QueueRefusal> open_session(std::unique_ptr<cm::Connection>& connection);
  void refuse(cm::Connection* connection, const protocol::QueueRefusal& refusal);
  std::vector<std::shared_ptr<TargetDevice>> share_devices(const cm::Managers& managers,
                                                           const Options& options);
  void announce() const;
  TargetFacts facts() const;
  void wait_for_signal();
  void wait_for_count_signal();
  void shut_down();
  void reload_keys();
  TargetFigures figures();
  void drain_queues();
  void settle_exports();
  std::string status_text() const;
  Done telling_status(Done done);

  asio::io_context& io_;
  const ServiceManager& service_manager_;
  Limits limits_;
  std::optional<HostPort> metrics_;
  AdminOptions admin_options_;
  std::string configuration_;         ///< the file; empty: none
  std::optional<ConfigStore> store_;  ///< for what is changed at run time; beside that file
  std::optional<pid_t> predecessor_;  ///< whose place is taken
  KeyRing key_ring_;
  ClientLog client_log_;
  LogLimiter strangers_;
  LogLimiter refusals_;
  Counters counters_;
  Listening listening_;
  ClientBudgets client_queues_;
  ServedDevices devices_;
  Exports exports_;
  ExportTurns turns_;
  Registrar registrar_;
  ExportChanges changes_;
  Reload reload_;
  QueueDrain drain_;  // its queues end before the exports; the threads that serve them, before it
  ClientReports reports_;
  std::optional<SessionEnvironment> environment_;
  bool stopping_ = false;
  bool settling_ = false;
  std::optional<asio::signal_set> signals_;  ///< until it serves, signals end the process
  std::optional<asio::signal_set> count_signal_;
  asio::steady_timer goodbye_{io_};
  std::optional<SuccessionListener> succession_;
  std::optional<Successor> successor_;
  std::optional<ServiceStatus> status_;
  std::optional<Watchdog> watchdog_;
  std::optional<AdminDesk> admin_;    ///< as long as it serves
  std::optional<Sessions> sessions_;  ///< as soon as there is an environment for them
  std::optional<Resizer> resizer_;    ///< the same
  std::chrono::steady_clock::time_point started_ = std::chrono::steady_clock::now();
  ExportHistory history_;
  std::optional<Watching> watching_;  ///< asks for figures()
};

}  // namespace rdmablk::target
