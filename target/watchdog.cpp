#include "target/watchdog.h"

#include <spdlog/spdlog.h>

#include <algorithm>

namespace rdmablk::target {
namespace {

/// A thread that is late once, or a message that is, must not cost the process its life.
constexpr int kLooksInAnInterval = 4;

}  // namespace

Watchdog::Watchdog(asio::io_context& io, const ServiceManager& manager, Threads threads)
    : timer_(io), manager_(manager), threads_(std::move(threads)) {
  const auto interval = manager.watchdog_interval();
  if (!interval) return;
  period_ = *interval / kLooksInAnInterval;
  look();
}

void Watchdog::wait() {
  timer_.expires_after(period_);
  timer_.async_wait([this](const asio::error_code& error) {
    if (!error) look();
  });
}

void Watchdog::look() {
  const bool stuck = is_stuck();
  if (!stuck) manager_.tell_alive();
  if (stuck && !was_stuck_) {
    spdlog::error(
        "an I/O thread is stuck: it has done nothing for {} ms, and waits for no device; if it "
        "stays so, the service manager restarts the target",
        std::chrono::duration_cast<std::chrono::milliseconds>(period_).count());
  }
  was_stuck_ = stuck;
  wait();
}

/// Asks the threads again, too.
bool Watchdog::is_stuck() {
  const IoThreads* const threads = threads_();
  if (threads == nullptr) return false;
  const auto& all = threads->all();
  const bool stuck = std::any_of(all.begin(), all.end(), [](const auto& thread) {
    const Pulse& pulse = thread->pulse();
    return !pulse.is_answered() && !pulse.waits_for_device();
  });
  for (const auto& thread : all) thread->ask_pulse();
  return stuck;
}

}  // namespace rdmablk::target
