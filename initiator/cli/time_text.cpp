#include "initiator/cli/time_text.h"

#include <fmt/format.h>

namespace rdmablk::cli {

std::string time_text(std::chrono::seconds time) {
  constexpr std::chrono::seconds::rep kMinute = 60;
  constexpr std::chrono::seconds::rep kHour = 60 * kMinute;
  constexpr std::chrono::seconds::rep kDay = 24 * kHour;
  const auto seconds = time.count();
  if (seconds < kMinute) return fmt::format("{} s", seconds);
  if (seconds < kHour) return fmt::format("{} min {} s", seconds / kMinute, seconds % kMinute);
  if (seconds < kDay) {
    return fmt::format("{} h {} min", seconds / kHour, seconds % kHour / kMinute);
  }
  return fmt::format("{} d {} h", seconds / kDay, seconds % kDay / kHour);
}

}  // namespace rdmablk::cli
