#pragma once

#include <asio/ip/tcp.hpp>
#include <asio/steady_timer.hpp>
#include <list>
#include <memory>
#include <string>

#include "common/cm/connection.h"
#include "common/cm/devices.h"
#include "common/cm/tcp/greeting.h"
#include "common/cm/tcp/reach_guard.h"
#include "common/lifetime.h"
#include "common/log_limiter.h"

namespace rdmablk::cm::tcp {

/// How much of a listener those may take who have not asked for a connection yet.
struct ListenerLimits {
  std::size_t greetings = 512;               ///< when there are as many, the oldest gives way
  std::chrono::milliseconds patience{5000};  ///< with each
};

/// Takes TCP connections, and hands on those who ask for a connection of queue pairs. Others are
/// dropped, and the log says why.
class TcpListener final : public Listener, private Greeting::Owner {
 public:
  /// @param devices, settings, guard and handler outlive this, and the guard its connections.
  /// Throws SystemError, and Error when this host does not have the address, or nothing that the
  /// settings ask for.
  TcpListener(asio::io_context& io, const Devices& devices, const Settings& settings,
              ReachGuard& guard, const SocketAddress& address, RequestHandler& handler,
              const ListenerLimits& limits = {});

  SocketAddress address() const override;
  ibv_context* device() const noexcept override { return device_; }

 private:
  void accept();
  void on_accepted(const asio::error_code& error, asio::ip::tcp::socket socket);
  void on_request(Greeting& greeting, const Request& request) override;
  void on_nothing(Greeting& greeting, const std::string& why) override;
  void refuse(Greeting& greeting, const std::string& why);
  void drop(const Greeting& greeting, const std::string& why);
  std::unique_ptr<Greeting> take(const Greeting& greeting);

  asio::ip::tcp::acceptor acceptor_;
  const Devices& devices_;
  const Settings& settings_;
  ReachGuard& guard_;
  RequestHandler& handler_;
  ListenerLimits limits_;
  ibv_context* device_ = nullptr;
  std::list<std::unique_ptr<Greeting>> greetings_;  ///< the oldest first
  asio::steady_timer pause_;
  LogLimiter log_;
  Lifetime lifetime_;
};

}  // namespace rdmablk::cm::tcp
