#include "target/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <asio/executor_work_guard.hpp>
#include <asio/post.hpp>
#include <csignal>

#include "common/error.h"
#include "common/log.h"
#include "common/random.h"
#include "common/units.h"
#include "common/verbs/memory_region.h"
#include "target/boot_id.h"
#include "target/distinct_files.h"
#include "target/machine_memory.h"
#include "target/memlock_budget.h"
#include "target/settlement.h"
#include "target/store_grant.h"

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

/// What the files of resident exports will take, as far as it is known: before any is made.
void expect_sizes(std::vector<ExportSpec>& specs) {
  for (ExportSpec& spec : specs) {
    if (spec.has_file()) spec.size = spec.file_size.value_or(0);
  }
}

/// Opens the files of those that have one. @param specs get their sizes.
std::vector<std::unique_ptr<FileStore>> open_stores(std::vector<ExportSpec>& specs) {
  std::vector<std::unique_ptr<FileStore>> stores;
  unsigned number = 0;
  for (ExportSpec& spec : specs) {
    auto& store = stores.emplace_back();
    if (!spec.has_file()) continue;
    store = std::make_unique<FileStore>(spec, number++);
    spec.size = store->file().size();
    if (spec.kind == protocol::ExportKind::resident) check_chunk_count(spec);
  }
  return stores;
}

/// Whether anything is to be remembered of an export when the target has ended.
bool needs_state(const ExportSpec& spec) {
  return spec.has_file() && !spec.read_only;
}

void check_slot_memory(const BackingFile& file, const Options& options) {
  const std::uint64_t needed = full_queue_bytes(file, options.limits);
  if (needed <= options.slot_memory) return;
  throw UsageError(fmt::format(
      "--slot-memory is {}, and one I/O queue with --slots {} of --slot-size {} takes {} bytes",
      format_size(options.slot_memory), options.limits.slots, format_size(options.limits.slot_size),
      needed));
}

}  // namespace

Server::Server(cm::ConnectionManager& manager, const Options& options)
    : manager_(manager),
      limits_(options.limits),
      addresses_(resolve_all(options.listen)),
      slot_budget_(options.slot_memory) {
  const auto devices = select_devices(manager, addresses_, options.device);
  make_exports(options, devices);
  for (ibv_context* const device : devices) {
    devices_.push_back(std::make_unique<TargetDevice>(device, exports_));
  }
  SessionOwner& owner = *this;
  environment_.emplace(SessionEnvironment{io_, counters_, limits_,
                                          random_bytes<protocol::InstanceId>(), owner,
                                          io_threads_ ? &*io_threads_ : nullptr, drain_});
}

Server::~Server() = default;

/// Opens the files first: what the memory of resident exports takes depends on them.
void Server::make_exports(const Options& options, std::span<ibv_context* const> devices) {
  std::vector<ExportSpec> specs = options.exports;
  check_distinct_files(specs);
  expect_sizes(specs);
  check_memory(specs, read_machine_memory());
  auto stores = open_stores(specs);
  check_memory(specs, read_machine_memory());
  check_memlock(specs, devices.size(), verbs::memlock_limit());
  if (std::any_of(specs.begin(), specs.end(), needs_state)) {
    state_.emplace(options.state_directory.empty() ? default_state_directory()
                                                   : options.state_directory);
  }
  const std::string boot = read_boot_id();
  std::vector<int> files;
  for (const auto& store : stores) {
    if (!store) continue;
    check_slot_memory(store->file(), options);
    files.push_back(store->file().fd());
  }
  for (std::size_t i = 0; i < specs.size(); ++i) {
    exports_.push_back(
        std::make_unique<Export>(specs[i], std::move(stores[i]), devices,
                                 Export::Options{.state = state_ ? &*state_ : nullptr,
                                                 .boot = boot,
                                                 .budget = &slot_budget_,
                                                 .show_path = options.show_paths}));
    spdlog::info("{}", exports_.back()->describe());
  }
  // The threads register the files.
  if (!files.empty()) io_threads_.emplace(options.io_threads, files);
}

void Server::run() {
  signals_.emplace(io_, SIGTERM, SIGINT, SIGHUP);
  wait_for_signal();
  listen();
  for (const auto& exported : exports_) {
    if (exported->store() != nullptr) exported->store()->keep();
  }
  const DescriptorWatch watch(io_, manager_.fd(), [this] { manager_.process(); });
  io_.run();
  listeners_.clear();
  sessions_.clear();
  drain_queues();
  settle_exports();
}

/// Lets files take what resident exports hold in memory alone.
void Server::settle_exports() {
  settling_ = true;
  const auto unsettled = settle(exports_, io_);
  mark_clean(unsettled);
  spdlog::info("ended: {}", counters_.text());
  if (!unsettled.empty()) throw Error(describe_unsettled(unsettled));
}

/// Once everything else is done.
void Server::mark_clean(std::span<const Export* const> unsettled) {
  for (const auto& exported : exports_) {
    if (std::find(unsettled.begin(), unsettled.end(), exported.get()) != unsettled.end()) continue;
    try {
      exported->mark_clean();
    } catch (const Error& error) {
      spdlog::error("{}", error.what());
    }
  }
}

/// Waits for what the sessions' queues have begun.
void Server::drain_queues() {
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

void Server::listen() {
  listeners_ = listen_on(manager_, addresses_, *this);
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
    spdlog::info("signal {}: shutting down", signal);
    // The second one does not wait.
    stopping_ ? io_.stop() : shut_down();
  });
}

void Server::shut_down() {
  stopping_ = true;
  listeners_.clear();
  if (sessions_.empty()) return io_.stop();
  // They stay in the map until later: nothing is removed while it is walked through.
  for (const auto& [id, session] : sessions_) session->say_goodbye();
  goodbye_.expires_after(limits_.goodbye);
  goodbye_.async_wait([this](const asio::error_code& error) {
    if (error) return;
    spdlog::warn("{} sessions did not acknowledge that the target ends", sessions_.size());
    io_.stop();
  });
}

void Server::on_session_over(Session& session) {
  asio::post(io_, lifetime_.guard([this, id = session.id()] { remove(id); }));
}

void Server::remove(std::uint32_t session) {
  sessions_.erase(session);
  if (stopping_ && sessions_.empty()) io_.stop();
}

void Server::on_request(std::unique_ptr<cm::Connection> connection,
                        std::span<const std::byte> private_data) {
  try {
    if (const auto refusal = answer(connection, private_data)) refuse(connection.get(), *refusal);
  } catch (const std::exception& error) {
    spdlog::error("a request to connect failed: {}", error.what());
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
  const auto handshakes = std::count_if(sessions_.begin(), sessions_.end(), [](const auto& entry) {
    return entry.second->awaits_hello();
  });
  if (sessions_.size() >= limits_.sessions) {
    return QueueRefusal{Status::limit, fmt::format("there are {} sessions", sessions_.size())};
  }
  if (static_cast<std::size_t>(handshakes) >= limits_.handshakes) {
    return QueueRefusal{Status::limit, fmt::format("{} sessions are being set up", handshakes)};
  }
  const std::uint32_t id = next_session_id();
  auto session = std::make_unique<Session>(id, connection, *device, *environment_);
  session->accept();
  sessions_.emplace(id, std::move(session));
  return std::nullopt;
}

std::optional<QueueRefusal> Server::open_queue(std::unique_ptr<cm::Connection>& connection,
                                               const QueueRequest& request) {
  const auto found = sessions_.find(session_of(request.attachment));
  if (found == sessions_.end()) {
    return QueueRefusal{Status::no_attachment, "there is no such attachment"};
  }
  return found->second->connect_queue(connection, request);
}

void Server::refuse(cm::Connection* connection, const QueueRefusal& refusal) {
  ++counters_.refused;
  if (connection == nullptr) return;  // what failed took it along
  spdlog::warn("refused {}: {}: {}", connection->peer(), protocol::status_text(refusal.status),
               refusal.text);
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
