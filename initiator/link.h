#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "common/cm/connection.h"
#include "common/error.h"
#include "common/protocol/header.h"
#include "initiator/control_loop.h"
#include "initiator/wake_event.h"

namespace rdmablk::initiator {

/// What is in the way to a target.
enum class Obstacle {
  no_way,       ///< no RDMA device of this host leads there, or its address is not known
  no_listener,  ///< its host says that nobody listens on the port
  no_answer,    ///< nobody answers
  refusal,      ///< whoever listens there does not want us
  other,        ///< something on this side
};

/// A target could not be reached or did not want us.
class ConnectError : public Error {
 public:
  using Error::Error;

  /// @param is_passing what is in the way is likely to be gone in a moment.
  /// @param refusal what the target said, when it was the target.
  ConnectError(const std::string& what, bool is_passing,
               std::optional<protocol::Status> refusal = std::nullopt)
      : Error(what), is_passing_(is_passing), refusal_(refusal) {}

  ConnectError(const std::string& what, Obstacle obstacle) : Error(what), obstacle_(obstacle) {}

  bool is_passing() const noexcept { return is_passing_; }
  Obstacle obstacle() const noexcept { return obstacle_; }
  void set_obstacle(Obstacle obstacle) noexcept { obstacle_ = obstacle; }
  std::optional<protocol::Status> refusal() const noexcept { return refusal_; }

 private:
  bool is_passing_ = false;
  Obstacle obstacle_ = Obstacle::other;
  std::optional<protocol::Status> refusal_;
};

/// One connection to a target, from looking for the way to its loss. Steps of setting up block,
/// driving the control loop, and throw ConnectError when they fail or the deadline comes first.
class Link final : public cm::EventHandler {
 public:
  /// Finds the device that leads to the peer.
  Link(ControlLoop& loop, const SocketAddress& peer, ControlLoop::Clock::time_point deadline);

  ~Link() override;
  Link(const Link&) = delete;
  Link& operator=(const Link&) = delete;

  ibv_context* device() const noexcept { return connection_->device(); }

  /// Between the constructor and connect(). Throws SystemError.
  verbs::QueuePair& create_queue_pair(const verbs::ProtectionDomain& pd,
                                      const verbs::CompletionQueue& cq,
                                      const verbs::QueuePairOptions& options);

  void connect(std::span<const std::byte> private_data, ControlLoop::Clock::time_point deadline);

  /// Calls `handler`, on the thread that runs the control loop, when the connection is lost.
  void on_lost(std::function<void()> handler) { on_lost_ = std::move(handler); }

  /// Becomes readable when the connection is lost, until take_loss().
  int lost_fd() const noexcept { return lost_event_.fd(); }

  /// Whether the connection was lost since the last call; failure() then says why. One thread asks,
  /// which may be another than the control loop's.
  bool take_loss() noexcept;
  const std::string& failure() const noexcept { return failure_; }

  /// Whether it was lost because the peer ended it, which shows that the way to it works.
  bool was_closed_by_peer() const noexcept { return closed_by_peer_; }

  /// Ends everything outstanding for good. By the thread that posts to the queue pair.
  void destroy_queue_pair() noexcept { connection_->destroy_queue_pair(); }

  /// Calls `handler` when the link is destroyed: for whoever keeps a list of links.
  void on_destroyed(std::function<void()> handler) { on_destroyed_ = std::move(handler); }

  /// Ends everything outstanding on the queue pair.
  void disconnect() noexcept { connection_->disconnect(); }

  /// Ends the connection as if it had been lost.
  /// @param why for people.
  void end(const std::string& why);

 private:
  enum class State { working, resolved, established, failed };

  void on_event(cm::Connection& connection, const cm::Event& event) override;
  void wait_for(State wanted, ControlLoop::Clock::time_point deadline);
  void refuse(const cm::Event& event);
  void fail(std::string reason);
  void fail(const cm::Event& event);
  void lose();

  ControlLoop& loop_;
  SocketAddress peer_;
  State state_ = State::working;
  std::string failure_;
  bool failure_is_passing_ = false;
  Obstacle obstacle_ = Obstacle::other;
  bool has_way_ = false;
  bool closed_by_peer_ = false;
  std::optional<protocol::Status> refusal_;
  std::atomic<bool> lost_ = false;
  bool loss_taken_ = false;
  WakeEvent lost_event_;
  std::function<void()> on_lost_;
  std::function<void()> on_destroyed_;
  std::unique_ptr<cm::Connection> connection_;
};

}  // namespace rdmablk::initiator
