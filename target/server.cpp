#include "target/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <csignal>

#include "common/cm/peer_gone.h"
#include "common/error.h"
#include "common/log.h"
#include "common/random.h"
#include "common/units.h"
#include "target/device_events.h"
#include "target/export_set_up.h"
#include "target/handshakes.h"
#include "target/settlement.h"

namespace rdmablk::target {
namespace {

using protocol::QueueRefusal;
using protocol::QueueRequest;
using protocol::Status;

/// How often a target that cannot end says why.
constexpr std::chrono::seconds kDrainReport{5};

std::vector<SocketAddress> resolve_all(const std::vector<HostPort>& listen) {
  std::vector<SocketAddress> addresses;
  for (const HostPort& candidate : listen) {
    const auto found = resolve(candidate);
    addresses.insert(addresses.end(), found.begin(), found.end());
  }
  return addresses;
}

}  // namespace

Server::Server(cm::ConnectionManager& manager, const ServiceManager& service_manager,
               const Options& options, InheritedMemory inherited)
    : manager_(manager),
      service_manager_(service_manager),
      limits_(options.limits),
      key_ring_(options.key_file),
      addresses_(resolve_all(options.listen)),
      slot_budget_(options.slot_memory),
      client_queues_(options.limits.client_queues) {
  const auto devices = select_devices(manager, addresses_, options.device);
  state_ = open_state(options);
  exports_ = make_exports(options, std::move(inherited),
                          {devices, slot_budget_, state_.get(), service_manager});
  // The threads register the files.
  const auto files = files_of(exports_);
  if (!files.empty()) io_threads_.emplace(options.io_threads, files);
  client_budgets_.emplace(client_slot_memory(options, exports_));
  key_ring_.check_rules(exports_);
  for (ibv_context* const device : devices) {
    devices_.push_back(std::make_unique<TargetDevice>(device, exports_));
  }
  SessionOwner& owner = *this;
  environment_.emplace(
      SessionEnvironment{io_, counters_, limits_, random_bytes<protocol::InstanceId>(), owner,
                         io_threads_ ? &*io_threads_ : nullptr, drain_, *client_budgets_,
                         client_queues_, key_ring_.keys(), client_log_, strangers_});
}

Server::~Server() = default;

ServerEnd Server::run(const std::function<void()>& on_serving) {
  signals_.emplace(io_, SIGTERM, SIGINT, SIGHUP);
  wait_for_signal();
  count_signal_.emplace(io_, SIGUSR1);
  wait_for_count_signal();
  listeners_ = listen_on(manager_, addresses_, *this);
  begin();
  SuccessionHandler& succession = *this;
  succession_.emplace(io_, succession);
  const DescriptorWatch watch(io_, manager_.fd(), [this] { manager_.process(); });
  std::vector<std::unique_ptr<DeviceEvents>> device_events;
  for (const auto& device : devices_) {
    device_events.push_back(std::make_unique<DeviceEvents>(io_, device->context()));
  }
  announce();
  service_manager_.tell_ready();
  on_serving();
  io_.run();
  listeners_.clear();
  sessions_.clear();
  drain_queues();
  if (!successor_) {
    settle_exports();
    return {};
  }
  spdlog::info("ended: {}", counters_.text());
  return {std::move(successor_), release_memory(exports_)};
}

/// Nobody is served before this: connections wait.
void Server::begin() {
  for (const auto& exported : exports_) exported->begin();
  for (const auto& exported : exports_) {
    if (exported->store() != nullptr) exported->store()->keep();
  }
}

/// Lets files take what resident exports hold in memory alone.
void Server::settle_exports() {
  settling_ = true;
  const auto unsettled = settle(exports_, io_);
  mark_clean(exports_, unsettled);
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
    spdlog::warn("still waiting for the files of {} I/O queues", drain_.size());
    report += kDrainReport;
  }
}

void Server::announce() const {
  std::vector<std::string> where;
  for (const auto& listener : listeners_) where.push_back(listener->address().text());
  std::vector<std::string> over;
  for (const auto& device : devices_) over.push_back(device->name());
  spdlog::info("listening on {} over {}", fmt::join(where, " and "), fmt::join(over, ", "));
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
    if (signal == SIGHUP) return reload();
    spdlog::info("signal {}: shutting down", signal);
    // The second one does not wait.
    stopping_ ? io_.stop() : shut_down();
  });
}

/// Sessions of clients that still have a key go on, whichever it was that they came with.
void Server::reload() {
  if (!key_ring_.reload()) return;
  key_ring_.check_rules(exports_);
  for (const auto& [id, session] : sessions_) {
    const std::string& client = session->peer().client;
    if (client.empty() || key_ring_.keys()->has(client)) continue;
    session->expel(Status::unauthorized,
                   fmt::format("client '{}' was removed from the keys", client));
  }
}

void Server::wait_for_count_signal() {
  count_signal_->async_wait([this](const asio::error_code& error, int /*signal*/) {
    if (error) return;
    wait_for_count_signal();
    spdlog::info("{}", count().text());
  });
}

Counts Server::count() const {
  Counts counts;
  counts.sessions = sessions_.size();
  counts.draining = drain_.size();
  counts.footprint = drain_.footprint();
  counts.open_fds = count_open_fds();
  counts.footprint.protection_domains += devices_.size();
  for (const auto& [id, session] : sessions_) session->count(counts);
  for (const auto& one : exports_) {
    counts.footprint += one->footprint();
    if (one->lease() != nullptr && one->lease()->is_held()) ++counts.leases;
  }
  return counts;
}

void Server::shut_down() {
  stopping_ = true;
  service_manager_.tell_stopping();
  listeners_.clear();
  if (sessions_.empty()) return io_.stop();
  // They stay in the map until later: nothing is removed while it is walked through.
  for (const auto& [id, session] : sessions_) session->say_goodbye();
  goodbye_.expires_after(limits_.goodbye);
  goodbye_.async_wait([this](const asio::error_code& error) {
    if (error) return;
    const auto deaf = std::count_if(sessions_.begin(), sessions_.end(),
                                    [](const auto& entry) { return !entry.second->is_over(); });
    if (deaf > 0) spdlog::warn("{} sessions did not acknowledge that the target ends", deaf);
    io_.stop();
  });
}

std::optional<std::string> Server::refuse_successor(const SuccessionRequest& request) {
  if (stopping_) return "the target is about to end";
  std::vector<MemoryRecord> records;
  for (const auto& exported : exports_) {
    if (exported->is_kept()) records.push_back(exported->record());
  }
  return reason_against(request, records);
}

void Server::on_successor(Successor successor) {
  spdlog::info("process {} takes over: shutting down", successor.pid());
  successor_.emplace(std::move(successor));
  if (!stopping_) shut_down();
}

/// The initiator may have had another session, which it has lost: that ends first, and what it has
/// begun.
void Server::on_session_joins(Session& session) {
  if (const auto excess = exceeds_limits(session)) {
    return session.turn_away(Status::limit, *excess);
  }
  const auto left = std::make_shared<std::size_t>(1);
  const auto one_less = lifetime_.guard([this, left, id = session.id()] {
    if (--*left > 0) return;
    const auto found = sessions_.find(id);
    if (found != sessions_.end()) found->second->admit();
  });
  for (const auto& [id, other] : sessions_) {
    if (other.get() == &session || !other->peer().is_resumed_by(session.peer())) continue;
    ++*left;
    other->end(fmt::format("its initiator is back as session {}", session.id()));
    drain_.when_fenced(other->attachments(), one_less);
  }
  one_less();
}

/// @return why not one more session, or one more of this client's, can be; nothing when it can.
std::optional<std::string> Server::exceeds_limits(const Session& session) const {
  std::size_t others = 0;
  std::size_t of_client = 0;
  for (const auto& [id, other] : sessions_) {
    if (other.get() == &session || !other->is_known()) continue;
    if (other->peer().is_resumed_by(session.peer())) continue;
    ++others;
    if (other->peer().shares_account_with(session.peer())) ++of_client;
  }
  if (others >= limits_.sessions) return fmt::format("there are {} sessions", others);
  if (of_client < limits_.client_sessions) return std::nullopt;
  return fmt::format("{} has {} sessions, which are all that one client may have",
                     session.peer().text(), of_client);
}

void Server::fence(std::uint64_t attachment, const std::string& taker) {
  const auto found = sessions_.find(session_of(attachment));
  if (found == sessions_.end()) return;
  found->second->end_attachment(attachment, taker);
}

/// It stays known until nothing is left of it: whoever resumes it has to wait for that.
void Server::on_session_over(Session& session) {
  drain_.when_gone(session.attachments(), lifetime_.guard([this, id = session.id()] {
    asio::post(io_, lifetime_.guard([this, id] { remove(id); }));
  }));
}

void Server::remove(std::uint32_t session) {
  sessions_.erase(session);
  if (stopping_ && sessions_.empty()) io_.stop();
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
  return open_queue(connection, *request);
}

std::optional<QueueRefusal> Server::open_session(std::unique_ptr<cm::Connection>& connection) {
  const TargetDevice* const device = find_device(*connection);
  if (device == nullptr) {
    return QueueRefusal{Status::not_supported, "the target does not use this device"};
  }
  if (auto refusal = make_room(SessionPeer{connection->peer(), {}, {}}.host())) return refusal;
  const std::uint32_t id = next_session_id();
  auto session = std::make_unique<Session>(id, connection, *device, *environment_);
  session->accept();
  sessions_.emplace(id, std::move(session));
  return std::nullopt;
}

/// Those who say nothing, or were refused, must not keep others out: see who_gives_way().
/// @return why there is no room for another session; nothing when there is.
std::optional<QueueRefusal> Server::make_room(const std::string& host) {
  std::size_t sessions = 0;
  std::vector<Handshake> handshakes;
  std::vector<Session*> owners;
  for (const auto& [id, session] : sessions_) {
    if (session->is_over()) continue;
    if (session->is_known()) {
      ++sessions;
      continue;
    }
    handshakes.push_back({session->peer().host(), session->since()});
    owners.push_back(session.get());
  }
  if (sessions >= limits_.sessions) {
    return QueueRefusal{Status::limit, fmt::format("there are {} sessions", sessions)};
  }
  if (handshakes.size() < limits_.handshakes) return std::nullopt;
  const auto now = std::chrono::steady_clock::now();
  const auto loser = who_gives_way(handshakes, host, limits_.reticence, now);
  if (!loser) {
    return QueueRefusal{Status::limit,
                        fmt::format("{} sessions are being set up", handshakes.size())};
  }
  owners[*loser]->end("it has not said who it is, and others wait");
  return std::nullopt;
}

std::optional<QueueRefusal> Server::open_queue(std::unique_ptr<cm::Connection>& connection,
                                               const QueueRequest& request) {
  const auto found = sessions_.find(session_of(request.attachment));
  if (found == sessions_.end()) return refuse_unproved();
  return found->second->connect_queue(connection, request);
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

const TargetDevice* Server::find_device(const cm::Connection& connection) const {
  const auto found = std::find_if(devices_.begin(), devices_.end(), [&](const auto& device) {
    return device->context() == connection.device();
  });
  return found == devices_.end() ? nullptr : found->get();
}

std::uint32_t Server::next_session_id() {
  do {
    ++last_session_;
  } while (last_session_ == 0 || sessions_.contains(last_session_));
  return last_session_;
}

}  // namespace rdmablk::target
