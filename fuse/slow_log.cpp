#include "fuse/slow_log.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "common/error.h"

namespace rdmablk::fuse {

namespace {

using initiator::Operation;

const char* name(Operation operation) noexcept {
  switch (operation) {
    case Operation::read:
      return "read";
    case Operation::write:
      return "write";
    case Operation::flush:
      return "flush";
    case Operation::zero:
      return "zero";
    case Operation::discard:
      return "discard";
    case Operation::map:
      return "map";
  }
  return "request";
}

double milliseconds(SlowRequest::Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

}  // namespace

std::string SlowRequest::text() const {
  std::string what = name(slot.operation);
  if (slot.operation != Operation::flush) {
    what += fmt::format(" of {} bytes at {}", slot.length, slot.offset);
  }
  if (error != 0) what += fmt::format(" ({})", errno_text(error));
  const auto taken = milliseconds(slot.submitted_at - slot.taken_at);
  const auto answer = milliseconds(answered_at - completed_at);
  std::string where =
      fmt::format("{:.1f} ms in the queue", milliseconds(completed_at - slot.submitted_at));
  if (slot.progress.posted_at >= slot.submitted_at) {
    where = fmt::format("{:.1f} ms until it was posted, {:.1f} ms on the wire and at the target",
                        milliseconds(slot.progress.posted_at - slot.submitted_at),
                        milliseconds(completed_at - slot.progress.posted_at));
  }
  return fmt::format(
      "slow: a {} took {:.1f} ms: {:.1f} ms until it had a slot, {}, {:.1f} ms for the answer",
      what, milliseconds(answered_at - slot.taken_at), taken, where, answer);
}

void SlowLog::tell(const SlowRequest& request) noexcept {
  try {
    if (const auto line = limiter_.note(request.text())) spdlog::warn("{}", *line);
  } catch (const std::exception& error) {
    spdlog::error("cannot tell of a slow request: {}", error.what());
  }
}

}  // namespace rdmablk::fuse
