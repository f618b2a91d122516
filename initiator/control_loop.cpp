#include "initiator/control_loop.h"

#include <utility>

#include "common/signals.h"
#include "common/thread_log.h"

namespace rdmablk::initiator {

ControlLoop::ControlLoop(cm::Method method, const cm::Settings& settings)
    : method_(method), cm_(cm::make_manager(method, io_, settings)) {}

ControlLoop::~ControlLoop() {
  stop();
}

bool ControlLoop::run_until(Clock::time_point deadline, const std::function<bool()>& done) {
  io_.restart();  // before the first look at stopping_: what stop() does afterwards is seen
  while (true) {
    if (stopping_) throw Stopped{};
    if (done()) return true;
    if (run_one(deadline) > 0) continue;
    if (stopping_) throw Stopped{};
    return done();
  }
}

/// @return 0 when the deadline came first, or the loop was stopped.
std::size_t ControlLoop::run_one(Clock::time_point deadline) {
  return deadline == kNever ? io_.run_one() : io_.run_one_until(deadline);
}

void ControlLoop::start(std::function<void()> procedure) {
  const SignalsBlocked blocked;  // signals are for the program's own threads
  thread_ = std::thread([procedure = std::move(procedure), log = shared_thread_log()] {
    const ThreadLog same(log);
    try {
      procedure();
    } catch (const Stopped&) {  // as it should end
    }
  });
}

void ControlLoop::stop() noexcept {
  if (!thread_.joinable()) return;
  stopping_ = true;
  io_.stop();
  thread_.join();
  stopping_ = false;
}

}  // namespace rdmablk::initiator
