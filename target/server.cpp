#include "target/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <csignal>

#include "common/cm/peer_gone.h"
#include "common/counted.h"
#include "common/error.h"
#include "common/log.h"
#include "common/random.h"
#include "common/units.h"
#include "target/settlement.h"

namespace rdmablk::target {
namespace {

using protocol::QueueRefusal;
using protocol::QueueRequest;
using protocol::Status;

/// How often a target that cannot end says why.
constexpr std::chrono::seconds kDrainReport{5};

}  // namespace

Server::Server(asio::io_context& io, const cm::Managers& managers,
               const ServiceManager& service_manager, const Options& options,
               InheritedMemory inherited, Reload::Load load)
    : io_(io),
      service_manager_(service_manager),
      limits_(options.limits),
      metrics_(options.metrics),
      admin_options_(options.admin),
      configuration_(options.config.value_or("")),
      predecessor_(options.predecessor),
      key_ring_(options.key_file),
      listening_(managers, resolve_all(options.listen), *this),
      client_queues_(options.limits.client_queues),
      devices_(io_, managers, options.connections.device, exports_, registrar_, listening_),
      exports_(io_, options, std::move(inherited), share_devices(managers, options),
               service_manager),
      registrar_(io_, exports_, turns_),
      changes_(io_, exports_,
               [this](const Export& exported) { sessions_->end_export(exported.spec().name); }),
      reload_(options, std::move(load), exports_, *this, [this](const Export& exported) {
        sessions_->end_disallowed(exported.spec().name);
        key_ring_.check_rules(exported.spec());
      }) {
  if (options.config) store_.emplace(*options.config);
  key_ring_.check_rules(exports_.all());
  environment_.emplace(
      SessionEnvironment{io_, counters_, limits_, random_bytes<protocol::InstanceId>(),
                         exports_.io_threads(), drain_, exports_.client_budgets(), client_queues_,
                         key_ring_.keys(), client_log_, strangers_, registrar_, &reports_});
  sessions_.emplace(*environment_);
  resizer_.emplace(io_, exports_, *sessions_, turns_, limits_.resize_wait);
}

Server::~Server() {
  exports_.end_threads();
}

ServerEnd Server::run(const std::function<void()>& on_serving) {
  if (metrics_) {
    const auto look = [this] { return figures(); };
    watching_.emplace(io_, look, *metrics_, predecessor_.has_value());
  }
  signals_.emplace(io_, SIGTERM, SIGINT, SIGHUP);
  wait_for_signal();
  count_signal_.emplace(io_, SIGUSR1);
  wait_for_count_signal();
  listening_.begin();
  admin_.emplace(io_, *this, store_ ? &*store_ : nullptr, facts(), admin_options_, predecessor_);
  exports_.begin();  // nobody is served before this: connections wait
  SuccessionHandler& succession = *this;
  succession_.emplace(io_, succession);
  devices_.begin(*sessions_, [this] {
    if (admin_) admin_->tell(facts());
  });
  announce();
  status_.emplace(io_, service_manager_, [this] { return status_text(); });
  sessions_->on_size([this] {
    if (status_) status_->changed();
  });
  service_manager_.tell_ready();
  watchdog_.emplace(io_, service_manager_, [this] { return &exports_.io_threads(); });
  on_serving();
  io_.run();
  watchdog_.reset();  // what comes may take as long as files take
  status_.reset();
  goodbye_.cancel();
  watching_.reset();
  listening_.end();
  devices_.end();
  sessions_->clear();
  drain_queues();
  registrar_.finish();
  changes_.finish();
  resizer_->finish();
  if (!successor_) {
    settle_exports();
    return {};
  }
  spdlog::info("ended: {}", counters_.text());
  return {std::move(successor_), exports_.release_memory()};
}

/// Lets files take what resident exports hold in memory alone.
void Server::settle_exports() {
  settling_ = true;
  const auto unsettled = exports_.settle(io_);
  spdlog::info("ended: {}", counters_.text());
  if (!unsettled.empty()) throw Error(describe_unsettled(unsettled));
}

/// Waits for what the sessions' queues have begun.
void Server::drain_queues() {
  drain_.close_kept();
  const auto work = asio::make_work_guard(io_);
  auto report = std::chrono::steady_clock::now() + kDrainReport;
  while (!drain_.empty()) {
    io_.restart();
    io_.run_one_until(report);
    if (std::chrono::steady_clock::now() < report) continue;
    spdlog::warn("still waiting for the files of {}", counted(drain_.size(), "I/O queue"));
    report += kDrainReport;
  }
}

std::vector<SocketAddress> Server::addresses() const {
  return listening_.addresses();
}

/// Those that serve at the start.
std::vector<std::shared_ptr<TargetDevice>> Server::share_devices(const cm::Managers& managers,
                                                                 const Options& options) {
  std::vector<std::shared_ptr<TargetDevice>> devices;
  for (ibv_context* const device :
       select_devices(managers, listening_.wanted(), options.connections.device)) {
    devices.push_back(devices_.share(device));
  }
  return devices;
}

TargetFacts Server::facts() const {
  TargetFacts facts;
  for (const auto& address : listening_.addresses()) facts.listening.push_back(address.text());
  for (const auto& device : exports_.devices()) facts.devices.push_back(device->name());
  facts.away.assign(devices_.away().begin(), devices_.away().end());
  facts.started = started_;
  facts.configuration = configuration_;
  facts.asks_clients = key_ring_.keys() != nullptr;
  return facts;
}

void Server::announce() const {
  std::vector<std::string> where;
  for (const auto& address : listening_.addresses()) where.push_back(address.text());
  std::vector<std::string> over;
  for (const auto& device : exports_.devices()) over.push_back(device->name());
  spdlog::info("listening on {} over {}", fmt::join(where, " and "), fmt::join(over, ", "));
}

std::string Server::status_text() const {
  std::vector<std::string_view> names;
  std::uint64_t bytes = 0;
  for (const auto& exported : exports_.all()) {
    names.emplace_back(exported->spec().name);
    bytes += exported->spec().size;
  }
  return service_status_text(names, bytes, sessions_->size());
}

void Server::wait_for_signal() {
  signals_->async_wait([this](const asio::error_code& error, int signal) {
    if (error) return;
    wait_for_signal();
    if (settling_) {
      return spdlog::warn(
          "signal {}: still writing exports back to their files, without which data is lost",
          signal);
    }
    if (signal == SIGHUP) return reload([](const std::optional<std::string>& /*failure*/) {});
    spdlog::info("signal {}: shutting down", signal);
    // The second one does not wait.
    stopping_ ? io_.stop() : shut_down();
  });
}

void Server::reload_keys() {
  if (!key_ring_.reload()) return;
  key_ring_.check_rules(exports_.all());
  sessions_->expel_without_key(*key_ring_.keys());
}

void Server::wait_for_count_signal() {
  count_signal_->async_wait([this](const asio::error_code& error, int /*signal*/) {
    if (error) return;
    wait_for_count_signal();
    spdlog::info("{}", counts().text());
  });
}

Counts Server::counts() const {
  Counts counts;
  counts.draining = drain_.size();
  counts.footprint = drain_.footprint();
  counts.open_fds = count_open_fds();
  sessions_->count(counts);
  exports_.count(counts);
  return counts;
}

std::vector<ExportStatus> Server::exports() const {
  auto all = exports_.status(sessions());
  for (ExportStatus& one : all) one.reported = reports_.of_export(one.spec.name);
  for (ExportStatus& status : all) {
    status.is_leaving = changes_.is_leaving(*exports_.find(status.spec.name));
  }
  return all;
}

std::vector<SessionStatus> Server::sessions() const {
  return sessions_->status();
}

TargetFigures Server::figures() {
  TargetFigures figures;
  figures.exports = exports();
  figures.sessions = sessions();
  figures.counts = counts();
  figures.counters = counters_;
  reports_.keep_if([this](const std::string& name) { return exports_.find(name) != nullptr; });
  figures.reports = reports_.all();
  history_.look(figures.exports);
  figures.history = history_.entries();
  figures.slot_memory = exports_.slot_budget().used();
  figures.slot_memory_limit = exports_.slot_budget().limit();
  figures.uptime = std::chrono::steady_clock::now() - started_;
  return figures;
}

void Server::add_export(const ExportSpec& spec, ExportOrigin origin, Done done) {
  ExportSpec with_origin = spec;
  with_origin.origin = origin;
  changes_.add(with_origin, [this, name = spec.name, done = telling_status(std::move(done))](
                                std::optional<std::string> failure) {
    const Export* const added = failure ? nullptr : exports_.find(name);
    if (added != nullptr) key_ring_.check_rules(added->spec());
    done(std::move(failure));
  });
}

void Server::remove_export(const std::string& name, const RemoveOptions& options, Done done) {
  const Export* const exported = exports_.find(name);
  if (exported != nullptr && resizer_->is_busy(*exported)) {
    return done(fmt::format("export '{}' is being resized; try again when that is done", name));
  }
  changes_.remove(name, options, telling_status(std::move(done)));
}

void Server::adopt_export(const std::string& name, ExportOrigin origin, Done done) {
  changes_.adopt(name, origin, std::move(done));
}

void Server::resize_export(const std::string& name, std::uint64_t size, Done done) {
  const Export* const exported = exports_.find(name);
  if (exported != nullptr && changes_.is_leaving(*exported)) {
    return done(fmt::format("export '{}' is being removed", name));
  }
  resizer_->resize(name, size, telling_status(std::move(done)));
}

bool Server::evict(std::uint32_t session, const std::string& reason) {
  return sessions_->evict(session, reason);
}

void Server::reload(Done done) {
  service_manager_.tell_reloading();
  reload_keys();
  reload_.run([this, done = std::move(done)](std::optional<std::string> failure) {
    if (!stopping_) service_manager_.tell_ready();
    done(std::move(failure));
  });
}

/// @return what tells the service manager, too, of exports that have changed.
Administration::Done Server::telling_status(Done done) {
  return [this, done = std::move(done)](std::optional<std::string> failure) {
    if (status_) status_->changed();
    done(std::move(failure));
  };
}

void Server::shut_down() {
  stopping_ = true;
  changes_.stop();
  resizer_->stop();
  service_manager_.tell_stopping();
  if (admin_) admin_->close();
  listening_.end();
  sessions_->say_goodbye([this] { io_.stop(); });
  goodbye_.expires_after(limits_.goodbye);
  goodbye_.async_wait([this](const asio::error_code& error) {
    if (error) return;
    const auto deaf = sessions_->lasting();
    if (deaf > 0) {
      spdlog::warn("{} did not acknowledge that the target ends", counted(deaf, "session"));
    }
    io_.stop();
  });
}

std::optional<std::string> Server::refuse_successor(const SuccessionRequest& request) {
  if (stopping_) return "the target is about to end";
  if (!changes_.is_idle() || !resizer_->is_idle()) {
    return "an export is being added, removed or resized; try again when that is done";
  }
  return reason_against(request, exports_.kept_records());
}

void Server::on_successor(Successor successor) {
  spdlog::info("process {} takes over: shutting down", successor.pid());
  successor_.emplace(std::move(successor));
  watching_.reset();  // it wants the address
  if (!stopping_) shut_down();
}

void Server::on_request(std::unique_ptr<cm::Connection> connection,
                        std::span<const std::byte> private_data) {
  try {
    if (const auto refusal = answer(connection, private_data)) refuse(connection.get(), *refusal);
  } catch (const cm::PeerGone& error) {
    if (const auto line = refusals_.note(error.what())) spdlog::info("{}", *line);
  } catch (const std::exception& error) {
    const auto line = refusals_.note(fmt::format("a request to connect failed: {}", error.what()));
    if (line) spdlog::error("{}", *line);
    refuse(connection.get(), {Status::internal, "the target failed; its log says how"});
  }
}

std::optional<QueueRefusal> Server::answer(std::unique_ptr<cm::Connection>& connection,
                                           std::span<const std::byte> private_data) {
  const auto request = QueueRequest::decode(private_data);
  if (!request) {
    return QueueRefusal{Status::malformed, "the private data is not that of this protocol"};
  }
  if (stopping_) return QueueRefusal{Status::shutting_down, "the target is about to end"};
  if (request->queue == protocol::kAdminQueue) return open_session(connection);
  return sessions_->open_queue(connection, *request);
}

std::optional<QueueRefusal> Server::open_session(std::unique_ptr<cm::Connection>& connection) {
  // One that is new may be used before it was noticed.
  if (exports_.find_device(connection->device()) == nullptr) devices_.look();
  auto device = exports_.find_device(connection->device());
  if (device == nullptr) {
    return QueueRefusal{Status::not_supported, "the target does not use this device"};
  }
  return sessions_->open(connection, std::move(device));
}

void Server::refuse(cm::Connection* connection, const QueueRefusal& refusal) {
  ++counters_.refused;
  if (connection == nullptr) return;  // what failed took it along
  const auto line =
      refusals_.note(fmt::format("refused {}: {}: {}", connection->peer(),
                                 protocol::status_text(refusal.status), refusal.text));
  if (line) spdlog::warn("{}", *line);
  connection->reject(refusal.encode());
}

}  // namespace rdmablk::target
