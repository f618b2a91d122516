#pragma once

#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "common/cm/connection.h"
#include "tests/integration/verbs/connected_pair.h"

namespace rdmablk::testing {

/// What an end of a connection was told.
struct Seen {
  cm::EventType type;
  int error = 0;
  cm::Refusal refusal = cm::Refusal::other;
  std::vector<std::byte> data;
  std::string why;
};

/// One end of a connection, its queue pair, and what it was told.
class Peer final : public cm::EventHandler {
 public:
  /// The accepting end, which has not answered yet.
  Peer(std::unique_ptr<cm::Connection> connection, std::vector<std::byte> private_data);

  /// The connecting end: asks for a connection as soon as the way is known.
  Peer(cm::ConnectionManager& manager, const SocketAddress& to,
       std::vector<std::byte> private_data);

  /// Makes the queue pair and accepts.
  void accept();

  bool has_seen(cm::EventType type) const { return count(type) > 0; }
  long count(cm::EventType type) const;
  bool is_established() const { return has_seen(cm::EventType::established); }

  End end;
  std::vector<std::byte> private_data;  ///< that it sends, or was sent
  std::vector<Seen> seen;

 private:
  void on_event(cm::Connection& connection, const cm::Event& event) override;
  void create_queue_pair();
};

/// A manager, a listener, and all ends of connections, in one thread.
class CmWorld final : public cm::RequestHandler {
 public:
  /// Throws Error when the device under test has no such way to connect.
  explicit CmWorld(cm::Method method);

  SocketAddress address() const { return listener_->address(); }
  cm::ConnectionManager& manager() { return *manager_; }
  asio::io_context& io() { return io_; }

  /// Starts to connect to the listener.
  Peer& connect(std::vector<std::byte> private_data = {});

  /// A pair that is connected at both ends.
  struct Pair {
    Peer& connecting;
    Peer& accepting;
  };
  Pair connect_pair(std::vector<std::byte> private_data = {});

  /// Handles events until `done`; throws when nothing happens for long.
  void run_until(const std::function<bool()>& done);

  /// What is done with requests, beside being kept.
  void on_request_do(std::function<void(Peer&)> what) { on_request_do_ = std::move(what); }

  /// In the order in which they came.
  std::deque<std::unique_ptr<Peer>>& requests() { return requests_; }

  void close_listener() { listener_.reset(); }

 private:
  void on_request(std::unique_ptr<cm::Connection> connection,
                  std::span<const std::byte> private_data) override;

  asio::io_context io_{1};
  std::unique_ptr<cm::ConnectionManager> manager_;
  std::unique_ptr<cm::Listener> listener_;
  std::function<void(Peer&)> on_request_do_;
  std::deque<std::unique_ptr<Peer>> requests_;
  std::deque<std::unique_ptr<Peer>> connecting_;
};

std::vector<std::byte> some_bytes(std::size_t size);

}  // namespace rdmablk::testing
