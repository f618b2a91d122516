#include "initiator/recovery_arguments.h"

#include <fmt/format.h>

#include "common/error.h"
#include "common/units.h"

namespace rdmablk::initiator {
namespace {

constexpr auto kMostSeconds = static_cast<std::uint64_t>(
    std::chrono::duration_cast<std::chrono::seconds>(kMaxRecoveryTime).count());

[[noreturn]] void refuse(const std::string& option, const std::string& value,
                         const char* expected) {
  throw UsageError(fmt::format("{} takes {}, not '{}'", option,
                               fmt::format(fmt::runtime(expected), kMostSeconds), value));
}

}  // namespace

std::chrono::milliseconds read_reconnect_delay(const std::string& option,
                                               const std::string& value) {
  const auto time = parse_seconds(value, kMostSeconds);
  if (!time || time->count() == 0) {
    refuse(option, value, "seconds, such as 0.5 or 2, more than 0 and at most {}");
  }
  return *time;
}

std::optional<std::chrono::milliseconds> read_recovery_limit(const std::string& option,
                                                             const std::string& value) {
  if (value == "never") return std::nullopt;
  const auto time = parse_seconds(value, kMostSeconds);
  if (!time) refuse(option, value, "seconds, such as 0.5 or 30, at most {}, or 'never'");
  return time;
}

}  // namespace rdmablk::initiator
