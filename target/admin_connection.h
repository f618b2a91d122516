#pragma once

#include <sys/types.h>

#include <asio/local/stream_protocol.hpp>
#include <asio/steady_timer.hpp>
#include <asio/streambuf.hpp>
#include <functional>
#include <string>
#include <string_view>

#include "common/lifetime.h"
#include "target/admin_limits.h"

namespace rdmablk::target {

/// One user of the administration socket: a line comes, is answered, and then the next is read. So
/// each has one request under way, and no more than a line waits here. On the control thread.
class AdminConnection {
 public:
  using Socket = asio::local::stream_protocol::socket;

  /// Who is on the other side.
  struct Peer {
    pid_t pid = -1;
    uid_t uid = static_cast<uid_t>(-1);
  };

  /// Is told what comes; may destroy the connection in on_end().
  class Handler {
   public:
    /// A request; reply() follows, now or later.
    virtual void on_line(AdminConnection& connection, std::string_view line) = 0;

    /// There is nothing more to be had from this one.
    virtual void on_end(AdminConnection& connection) = 0;

   protected:
    ~Handler() = default;
  };

  /// @param number for the handler, which outlives this.
  AdminConnection(Socket socket, std::uint64_t number, const AdminLimits& limits, Handler& handler);
  AdminConnection(const AdminConnection&) = delete;
  AdminConnection& operator=(const AdminConnection&) = delete;

  /// Begins to listen. May end it.
  void start() { read(); }

  /// Answers the request that on_line() told of, and reads on. May end it.
  /// @param line without its end.
  void reply(std::string line);

  std::uint64_t number() const noexcept { return number_; }
  const Peer& peer() const noexcept { return peer_; }

 private:
  void read();
  void on_read(const asio::error_code& error, std::size_t length);
  void on_written(const asio::error_code& error);
  void limit_time();

  Socket socket_;
  std::uint64_t number_;
  AdminLimits limits_;
  Handler& handler_;
  Peer peer_;
  asio::steady_timer timer_;
  asio::streambuf input_;
  std::string output_;
  std::size_t requests_ = 0;
  bool is_last_ = false;  ///< what is being written
  Lifetime lifetime_;
};

}  // namespace rdmablk::target
