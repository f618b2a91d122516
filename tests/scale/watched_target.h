#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <string>

namespace rdmablk::scale {

/// What a target says it has, by name: "sessions", "io_queues", "open_fds" and so on.
using TargetCounts = std::map<std::string, std::int64_t>;

/// A target that somebody else has started, and whose log can be read.
class WatchedTarget {
 public:
  /// @param log where its standard error goes.
  WatchedTarget(pid_t pid, std::string log);

  pid_t pid() const noexcept { return pid_; }

  /// Asks for its counts (SIGUSR1) and waits for the answer. Throws Error.
  TargetCounts counts();

  /// Asks until it has what it is to have. Throws Error, with the difference, when that takes too
  /// long.
  void wait_for(const TargetCounts& expected);

 private:
  std::string next_line();

  pid_t pid_;
  std::string log_;
  std::int64_t read_ = 0;  ///< bytes of the log, up to the end of the last counts
};

}  // namespace rdmablk::scale
