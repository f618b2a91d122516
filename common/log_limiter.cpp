#include "common/log_limiter.h"

#include <fmt/format.h>

#include <utility>

namespace rdmablk {

bool LogLimiter::is_idle(Clock::time_point now) const noexcept {
  return window_ == Clock::time_point{} || now - window_ >= kWindow;
}

std::optional<std::string> LogLimiter::note(const std::string& text, Clock::time_point now) {
  if (is_idle(now)) {
    window_ = now;
    lines_ = 0;
  }
  if (lines_ == limit_) {
    ++left_out_;
    return std::nullopt;
  }
  ++lines_;
  const auto before = std::exchange(left_out_, 0);
  return before == 0 ? text : fmt::format("{} ({} more left out before)", text, before);
}

}  // namespace rdmablk
