#include "fuse/last_flush.h"

#include <spdlog/spdlog.h>

#include "common/daemon_marker.h"
#include "common/error.h"

namespace rdmablk::fuse {

// Requests in flight, which end before it is submitted, and the target's farewell take some time.
static_assert(LastFlush::kTime + std::chrono::seconds(5) < kDaemonEndTime);

void LastFlush::submit(initiator::Queue& queue) noexcept {
  request_.operation = initiator::Operation::flush;
  queue.submit(request_);
  queue.kick();
}

bool LastFlush::takes(const initiator::Request& request) noexcept {
  if (&request != &request_) return false;
  has_ended_ = true;
  return true;
}

void LastFlush::report(bool connected) const noexcept {
  constexpr const char* kLoss = "what was written and not synced may be lost";
  if (has_ended_ && request_.error != 0) {
    spdlog::error("the last flush failed: {}; {}", errno_text(request_.error), kLoss);
  } else if (!has_ended_ && !connected) {
    spdlog::error("there is no last flush, as the target is away; {}", kLoss);
  } else if (!has_ended_) {
    spdlog::error("the last flush did not end within {} s; {}", kTime.count(), kLoss);
  }
}

}  // namespace rdmablk::fuse
