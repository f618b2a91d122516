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

void LastFlush::report() const noexcept {
  if (!has_ended_) {
    spdlog::warn("the last flush did not end within {} s; what was not synced may be lost",
                 kTime.count());
  } else if (request_.error != 0) {
    spdlog::warn("the last flush failed: {}; what was not synced may be lost",
                 errno_text(request_.error));
  }
}

}  // namespace rdmablk::fuse
