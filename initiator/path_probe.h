#pragma once

#include <asio/steady_timer.hpp>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "common/cm/connection.h"
#include "common/descriptor_watch.h"
#include "common/lifetime.h"
#include "common/verbs/completion_channel.h"
#include "common/verbs/completion_queue.h"
#include "common/verbs/protection_domain.h"
#include "initiator/control_loop.h"

namespace rdmablk::initiator {

/// Finds out whether a target answers at an address, by a connection that it makes, READs over, and
/// ends. Does not block: all happens on the thread that drives the control loop.
class PathProbe final : public cm::EventHandler {
 public:
  struct Result {
    std::optional<std::string> failure;  ///< why it does not answer; nothing: it does
    std::string device{};                ///< that leads there; empty: none does
  };

  /// @param ended is told the result, once, and may destroy the probe.
  PathProbe(ControlLoop& loop, const SocketAddress& peer, std::chrono::milliseconds patience,
            std::function<void(const Result&)> ended);
  ~PathProbe() override;
  PathProbe(const PathProbe&) = delete;
  PathProbe& operator=(const PathProbe&) = delete;

  /// What leads there; null when it is not known yet.
  const ibv_context* device() const noexcept {
    return connection_ == nullptr ? nullptr : connection_->device();
  }

 private:
  void on_event(cm::Connection& connection, const cm::Event& event) override;
  void connect();
  void read();
  void poll();
  void end(std::optional<std::string> failure);

  ControlLoop& loop_;
  std::function<void(const Result&)> ended_;
  bool has_ended_ = false;
  std::string device_;
  asio::steady_timer timer_;
  std::unique_ptr<verbs::ProtectionDomain> pd_;
  std::unique_ptr<verbs::CompletionChannel> completions_;
  std::unique_ptr<verbs::CompletionQueue> cq_;
  std::optional<DescriptorWatch> watch_;
  std::unique_ptr<cm::Connection> connection_;  // owns the queue pair
  Lifetime lifetime_;
};

}  // namespace rdmablk::initiator
