#pragma once

#include <spdlog/common.h>

#include <cstddef>
#include <map>
#include <string>
#include <string_view>

#include "common/log_limiter.h"

namespace rdmablk::target {

/// What clients do, line by line in the log, but of none so much that it fills a disk. Control
/// thread.
class ClientLog {
 public:
  /// Lines of one client in a window of time: enough for all mounts of a machine that comes up.
  static constexpr unsigned kLines = 200;

  using Clock = LogLimiter::Clock;

  /// Logs a line, unless there are enough of this client.
  /// @param account see SessionPeer::account(). @param export_name that it is about, if it is about
  /// one: for the journal.
  void note(const std::string& account, spdlog::level::level_enum level, const std::string& line,
            Clock::time_point now = Clock::now(), std::string_view export_name = {});

  std::size_t size() const noexcept { return limiters_.size(); }

 private:
  void forget_idle(Clock::time_point now);

  std::map<std::string, LogLimiter> limiters_;
  Clock::time_point looked_{};
};

}  // namespace rdmablk::target
