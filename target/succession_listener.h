#pragma once

#include <asio/io_context.hpp>
#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>
#include <asio/streambuf.hpp>
#include <optional>
#include <string>

#include "common/log_limiter.h"
#include "target/succession.h"

namespace rdmablk::target {

/// Decides about successors. On the control thread.
class SuccessionHandler {
 public:
  virtual ~SuccessionHandler() = default;

  /// A process of this user, or of root, would take over.
  /// @return why not, for people; nothing: on_successor() follows. May throw Error, for the same.
  virtual std::optional<std::string> refuse_successor(const SuccessionRequest& request) = 0;

  /// It waits for the memory. Nobody else is asked after that.
  virtual void on_successor(Successor successor) = 0;
};

/// Where a target awaits its successor: rdmablk-target --succeed PID. One at a time is heard, and
/// not for long. The event loop does not run any more once this has gone.
class SuccessionListener {
 public:
  /// Listens on the socket of this process; when another has taken its name, nobody can succeed.
  /// @param io, handler outlive this. Throws Error.
  SuccessionListener(asio::io_context& io, SuccessionHandler& handler);
  ~SuccessionListener();
  SuccessionListener(const SuccessionListener&) = delete;
  SuccessionListener& operator=(const SuccessionListener&) = delete;

 private:
  using Socket = asio::local::stream_protocol::socket;

  void accept();
  void pause(const asio::error_code& error);
  void hear(Socket socket);
  std::optional<std::string> reason_to_refuse(std::string_view text);
  void on_request(std::string_view text);
  void end_hearing();

  asio::io_context& io_;
  SuccessionHandler& handler_;
  asio::local::stream_protocol::acceptor acceptor_;
  std::optional<Socket> peer_;
  asio::streambuf request_{kMaxSuccessionLine};
  asio::steady_timer patience_;
  LogLimiter intruders_;
  pid_t peer_pid_ = -1;
};

}  // namespace rdmablk::target
