#include "initiator/cli/time_limit.h"

#include <fmt/format.h>
#include <unistd.h>

#include "common/error.h"
#include "common/log.h"
#include "common/seconds.h"
#include "common/signals.h"
#include "common/units.h"

namespace rdmablk::cli {
namespace {

constexpr std::chrono::milliseconds kLittleMore{300};

}  // namespace

TimeLimit::TimeLimit(std::chrono::milliseconds time, std::string doing)
    : time_(time), doing_(std::move(doing)) {
  const SignalsBlocked blocked;  // signals are for the program's own threads
  thread_ = std::thread(
      [this, end = std::chrono::steady_clock::now() + time + kLittleMore] { watch(end); });
}

TimeLimit::~TimeLimit() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void TimeLimit::watch(std::chrono::steady_clock::time_point end) {
  std::unique_lock lock(mutex_);
  if (changed_.wait_until(lock, end, [this] { return is_over_; })) return;
  print_error("rdmablk", fmt::format("cannot {}: it took longer than {:g} s (--timeout)", doing_,
                                     in_seconds(time_)));
  ::_exit(kExitFailed);
}

std::chrono::milliseconds read_timeout(const std::string& value) {
  constexpr unsigned kMost = 86400;
  const auto time = parse_seconds(value, kMost);
  if (time && time->count() > 0) return *time;
  throw UsageError(
      fmt::format("--timeout takes seconds, more than 0 and at most {}, not '{}'", kMost, value));
}

}  // namespace rdmablk::cli
