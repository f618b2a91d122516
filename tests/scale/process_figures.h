#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstdint>

namespace rdmablk::scale {

/// What a process has at a moment, as /proc says.
struct ProcessFigures {
  std::int64_t rss = 0;  ///< bytes that are resident, those shared with others among them
  std::int64_t pss = 0;  ///< the same, shared ones by their part
  std::int64_t fds = 0;
  std::int64_t threads = 0;
};

/// Throws Error when there is no such process.
ProcessFigures figures_of(pid_t pid);

/// Processor time that the threads it has now have used. Throws Error.
std::chrono::nanoseconds cpu_time_of(pid_t pid);

}  // namespace rdmablk::scale
