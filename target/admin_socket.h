#pragma once

#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>
#include <cstdint>
#include <map>
#include <memory>
#include <string_view>

#include "common/lifetime.h"
#include "common/log_limiter.h"
#include "common/unique_fd.h"
#include "target/admin_connection.h"
#include "target/admin_limits.h"
#include "target/admin_service.h"

namespace rdmablk::target {

/// The administration socket: takes requests (admin_request.h), a JSON object a line, has a service
/// do what they ask for, and answers (admin_reply.h). Whoever may connect may ask for everything.
/// On the control thread.
class AdminSocket final : private AdminConnection::Handler {
 public:
  /// @param listener a Unix socket that listens. @param service outlives this; what it has begun
  /// may end after this has gone.
  AdminSocket(asio::io_context& io, UniqueFd listener, AdminService& service,
              const AdminLimits& limits = {});
  ~AdminSocket();
  AdminSocket(const AdminSocket&) = delete;
  AdminSocket& operator=(const AdminSocket&) = delete;

  /// Connections that there are.
  std::size_t connections() const noexcept { return connections_.size(); }

 private:
  void on_line(AdminConnection& connection, std::string_view line) override;
  void on_end(AdminConnection& connection) override;

  void accept();
  void pause(const asio::error_code& error);
  void welcome(AdminConnection::Socket socket);
  void log(const AdminConnection& connection, const AdminRequest& request);
  AdminService::Answer answer_to(const AdminConnection& connection);

  AdminService& service_;
  AdminLimits limits_;
  asio::local::stream_protocol::acceptor acceptor_;
  asio::steady_timer pause_;
  std::map<std::uint64_t, std::unique_ptr<AdminConnection>> connections_;
  std::uint64_t last_number_ = 0;
  LogLimiter changes_;
  LogLimiter troubles_;
  Lifetime lifetime_;
};

}  // namespace rdmablk::target
