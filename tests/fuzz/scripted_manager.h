#pragma once

#include <functional>
#include <vector>

#include "common/lifetime.h"
#include "tests/fuzz/scripted_connection.h"

namespace rdmablk::fuzz {

class ManagedConnection;

/// What becomes of the connections that a program opens: the other side of all of them.
class ConnectionScript {
 public:
  /// The event that follows open(): `resolved` or `failed`.
  virtual cm::Event on_open() = 0;
  /// The event that follows connect(). Data that it refers to lasts until the next call.
  virtual cm::Event on_connect(ManagedConnection& connection,
                               std::span<const std::byte> private_data) = 0;
  virtual void on_destroyed(ManagedConnection& connection) = 0;

 protected:
  ~ConnectionScript() = default;
};

/// Makes connections that go where the script says. Stands in for rdma_cm in what links it: its
/// source defines cm::make_manager().
class ScriptedManager final : public cm::ConnectionManager {
 public:
  explicit ScriptedManager(asio::io_context& io);
  ~ScriptedManager() override;

  /// The script of all managers made from now on. @param script outlives them.
  static void use(ConnectionScript* script) noexcept;

  std::span<ibv_context* const> devices() const noexcept override { return devices_; }
  std::unique_ptr<cm::Listener> listen(const SocketAddress& address,
                                       cm::RequestHandler& handler) override;
  std::unique_ptr<cm::Connection> open(const SocketAddress& peer,
                                       cm::EventHandler& handler) override;

  /// Tells a connection's owner of an event, soon.
  void tell(ManagedConnection& connection, const cm::Event& event);
  void drop(const ManagedConnection& connection) noexcept;

 private:
  struct Due {
    ManagedConnection* connection;
    cm::Event event;
  };

  void process();

  asio::io_context& io_;
  std::vector<ibv_context*> devices_;
  std::vector<Due> due_;
  Lifetime lifetime_;
};

/// A connection of a ScriptedManager.
class ManagedConnection final : public ScriptedConnection {
 public:
  ManagedConnection(ScriptedManager& manager, ConnectionScript& script, cm::EventHandler& handler)
      : manager_(manager), script_(script), handler_(handler) {}
  ~ManagedConnection() override;

  void connect(std::span<const std::byte> private_data) override;

  /// Tells the owner of an event, soon.
  void tell(const cm::Event& event) { manager_.tell(*this, event); }
  cm::EventHandler& handler() noexcept { return handler_; }

 private:
  ScriptedManager& manager_;
  ConnectionScript& script_;
  cm::EventHandler& handler_;
};

}  // namespace rdmablk::fuzz
