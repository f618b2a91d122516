#pragma once

#include <asio/io_context.hpp>
#include <memory>
#include <optional>
#include <utility>

#include "target/admin_options.h"
#include "target/admin_place.h"
#include "target/admin_service.h"
#include "target/admin_socket.h"

namespace rdmablk::target {

/// Where administrators are heard: the place of their socket, and who serves them there. On the
/// control thread.
class AdminDesk {
 public:
  /// Opens it, or does not, if that is what the options say; and if its usual place, which nobody
  /// asked for, cannot be had, the log says why. Throws Error when a place was asked for.
  /// @param administration, keeper outlive this, and what it has begun. @param keeper may be null.
  /// @param predecessor a process whose place is taken over.
  AdminDesk(asio::io_context& io, Administration& administration, ExportKeeper* keeper,
            TargetFacts facts, const AdminOptions& options, std::optional<pid_t> predecessor);
  AdminDesk(const AdminDesk&) = delete;
  AdminDesk& operator=(const AdminDesk&) = delete;

  /// The facts have changed.
  void tell(TargetFacts facts) { facts_ = std::move(facts); }

  /// Hears nobody any more, and clears the place for others. What was begun goes on.
  void close() noexcept;

 private:
  void open(asio::io_context& io, const AdminOptions& options, std::optional<pid_t> predecessor);

  TargetFacts facts_;
  AdminService service_;
  std::optional<AdminPlace> place_;
  std::optional<AdminSocket> socket_;
};

}  // namespace rdmablk::target
