#include "fuse/last_flush.h"

#include <fmt/format.h>

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

std::string LastFlush::problem(bool connected) const {
  if (has_ended_) return fmt::format("the last flush failed: {}", errno_text(request_.error));
  if (!connected) return "there is no last flush, as the target is away";
  return fmt::format("the last flush did not end within {} s", kTime.count());
}

}  // namespace rdmablk::fuse
