#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <functional>

#include "target/io_threads.h"
#include "target/service_manager.h"

namespace rdmablk::target {

/// Tells the service manager that this process does its work, as often as it wants to know it. It
/// falls silent, and is restarted, when the control thread does not come round to its timers, or
/// when an I/O thread does not come round to its tasks. One that waits for a device is not stuck:
/// disks may take their time, and what waits for one cannot be killed either.
class Watchdog {
 public:
  /// The I/O threads that there are at the moment; null: none.
  using Threads = std::function<const IoThreads*()>;

  /// Starts telling, if the manager wants to know. @param io of the control thread, which makes and
  /// uses this. @param manager outlives this. Throws Error.
  Watchdog(asio::io_context& io, const ServiceManager& manager, Threads threads);

 private:
  void wait();
  void look();
  bool is_stuck();

  asio::steady_timer timer_;
  const ServiceManager& manager_;
  Threads threads_;
  std::chrono::microseconds period_{};
  bool was_stuck_ = false;
};

}  // namespace rdmablk::target
