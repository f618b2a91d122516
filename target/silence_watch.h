#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <functional>

#include "common/lifetime.h"
#include "target/limits.h"

namespace rdmablk::target {

/// Notices that nothing was heard of a peer for a long time. Takes no notice of each message but
/// the time. Used by one thread, from its event loop.
class SilenceWatch {
 public:
  /// @param limits say how long; outlive this.
  /// @param listen takes what has come already. @return whether there is still anybody to listen
  /// to; it may have stopped the watch, too.
  /// @param silent called when nothing was heard for so long; the watch has ended.
  SilenceWatch(asio::io_context& io, const Limits& limits, std::function<bool()> listen,
               std::function<void()> silent);
  SilenceWatch(const SilenceWatch&) = delete;
  SilenceWatch& operator=(const SilenceWatch&) = delete;

  /// Begins, unless the limits are for any time.
  void start();
  void stop() { timer_.cancel(); }

  /// Something was heard.
  void heard() noexcept { heard_ = Clock::now(); }

  /// When that was last.
  std::chrono::steady_clock::time_point last_heard() const noexcept { return heard_; }

 private:
  using Clock = std::chrono::steady_clock;

  void wait(std::chrono::milliseconds time);
  void look();

  const Limits& limits_;
  std::function<bool()> listen_;
  std::function<void()> silent_;
  Clock::time_point heard_ = Clock::now();
  asio::steady_timer timer_;
  Lifetime lifetime_;
};

}  // namespace rdmablk::target
