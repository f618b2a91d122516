#include "target/failed_attempts.h"

#include <fmt/format.h>

#include <utility>

namespace rdmablk::target {

std::optional<std::string> FailedAttempts::note(const std::string& text, Clock::time_point now) {
  if (window_ == Clock::time_point{} || now - window_ >= kWindow) {
    window_ = now;
    lines_ = 0;
  }
  if (lines_ == kLines) {
    ++left_out_;
    return std::nullopt;
  }
  ++lines_;
  const auto before = std::exchange(left_out_, 0);
  return before == 0 ? text : fmt::format("{} ({} more were left out before)", text, before);
}

}  // namespace rdmablk::target
