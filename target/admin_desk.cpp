#include "target/admin_desk.h"

#include <spdlog/spdlog.h>

#include <utility>

#include "common/error.h"

namespace rdmablk::target {

AdminDesk::AdminDesk(asio::io_context& io, Administration& administration, ExportKeeper* keeper,
                     TargetFacts facts, const AdminOptions& options,
                     std::optional<pid_t> predecessor)
    : facts_(std::move(facts)), service_(administration, facts_, keeper) {
  try {
    open(io, options, predecessor);
  } catch (const Error& error) {
    if (options.socket || !options.group.empty()) throw;
    // Another target on this machine, most likely; this one serves all the same.
    spdlog::info("not for administrators: {}", error.what());
  }
}

void AdminDesk::open(asio::io_context& io, const AdminOptions& options,
                     std::optional<pid_t> predecessor) {
  const std::string path = options.socket.value_or(default_admin_socket());
  if (path == AdminOptions::kNone) return;
  if (path.empty()) {
    if (options.group.empty()) return;
    throw Error("--admin-group needs --admin-socket PATH: for this user no place is usual");
  }
  place_.emplace(path, options.group, predecessor);
  socket_.emplace(io, place_->release(), service_);
  spdlog::debug("administrators are heard at {}", path);
}

void AdminDesk::close() noexcept {
  socket_.reset();
  place_.reset();
}

}  // namespace rdmablk::target
