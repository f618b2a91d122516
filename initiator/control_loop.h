#pragma once

#include <asio/io_context.hpp>
#include <chrono>
#include <functional>
#include <memory>
#include <thread>

#include "common/cm/connection.h"
#include "common/descriptor_watch.h"

namespace rdmablk::initiator {

/// Runs what is not the data path: connection events and messages. While setting up, the caller's
/// thread drives it until what it waits for has happened; start() then gives it a thread of its
/// own.
class ControlLoop {
 public:
  using Clock = std::chrono::steady_clock;

  /// Throws Error when this host has no RDMA device.
  ControlLoop();
  ~ControlLoop();
  ControlLoop(const ControlLoop&) = delete;
  ControlLoop& operator=(const ControlLoop&) = delete;

  cm::ConnectionManager& connections() noexcept { return *cm_; }

  /// For watching descriptors: their handlers run on the thread that runs the loop.
  asio::io_context& io() noexcept { return io_; }

  /// Handles events on the caller's thread until `done` says so. Not after start().
  /// @return false when the deadline came first.
  bool run_until(Clock::time_point deadline, const std::function<bool()>& done);

  /// Handles events on a thread of its own until stop().
  void start();

  /// Ends that thread; afterwards run_until() may be called again.
  void stop() noexcept;

 private:
  std::unique_ptr<cm::ConnectionManager> cm_;
  asio::io_context io_{1};
  DescriptorWatch cm_watch_;
  std::thread thread_;
};

}  // namespace rdmablk::initiator
