#pragma once

#include <asio/io_context.hpp>
#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "common/cm/connection.h"

namespace rdmablk::initiator {

/// Runs what is not the data path: connection events and messages. Whoever waits for something
/// drives it by run_until(): the caller's thread while setting up, and after start() a thread of
/// its own, which runs one procedure that is made of the same blocking steps.
class ControlLoop {
 public:
  using Clock = std::chrono::steady_clock;

  /// What run_until() throws on the loop's own thread once stop() has been called. No Error: who
  /// handles failures does not take it for one.
  struct Stopped {};

  /// A deadline that never comes.
  static constexpr Clock::time_point kNever = Clock::time_point::max();

  /// Throws Error when this host has no RDMA device.
  explicit ControlLoop(cm::Method method = cm::Method::rdmacm, const cm::Settings& settings = {});
  ~ControlLoop();
  ControlLoop(const ControlLoop&) = delete;
  ControlLoop& operator=(const ControlLoop&) = delete;

  cm::ConnectionManager& connections() noexcept { return *cm_; }
  cm::Method method() const noexcept { return method_; }

  /// For watching descriptors and for timers: their handlers run on the thread that drives the
  /// loop, within run_until().
  asio::io_context& io() noexcept { return io_; }

  /// Handles events until `done` says so, which is asked after each of them. Not from within a
  /// handler; after start() on the loop's own thread only.
  /// @return false when the deadline came first. Throws Stopped.
  bool run_until(Clock::time_point deadline, const std::function<bool()>& done);

  /// Runs a procedure on a thread of its own until stop(). It waits by run_until() and by nothing
  /// else, lets Stopped through, and throws nothing but that.
  void start(std::function<void()> procedure);

  /// Has the procedure give up what it is doing, at once, and waits for the end of its thread.
  /// Afterwards run_until() may be called by others again.
  void stop() noexcept;

 private:
  std::size_t run_one(Clock::time_point deadline);

  cm::Method method_;
  asio::io_context io_{1};
  std::unique_ptr<cm::ConnectionManager> cm_;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace rdmablk::initiator
