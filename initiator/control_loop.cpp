#include "initiator/control_loop.h"

#include <asio/executor_work_guard.hpp>

#include "common/signals.h"

namespace rdmablk::initiator {

ControlLoop::ControlLoop()
    : cm_(cm::make_rdmacm()), cm_watch_(io_, cm_->fd(), [this] { cm_->process(); }) {}

ControlLoop::~ControlLoop() {
  stop();
}

bool ControlLoop::run_until(Clock::time_point deadline, const std::function<bool()>& done) {
  io_.restart();
  while (!done()) {
    if (io_.run_one_until(deadline) == 0) return done();
  }
  return true;
}

void ControlLoop::start() {
  io_.restart();
  const SignalsBlocked blocked;  // signals are for the program's own threads
  thread_ = std::thread([this] {
    const auto guard = asio::make_work_guard(io_);
    io_.run();
  });
}

void ControlLoop::stop() noexcept {
  if (!thread_.joinable()) return;
  io_.stop();
  thread_.join();
}

}  // namespace rdmablk::initiator
