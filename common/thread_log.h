#pragma once

#include <spdlog/logger.h>

#include <memory>

namespace rdmablk {

/// Where the calling thread logs: the process's default logger, or that of the ThreadLog that lives
/// on this thread. Code that may run inside of somebody else's program logs by this.
spdlog::logger& thread_log() noexcept;

/// The same, to be handed to another thread's ThreadLog; null: the process's default logger.
std::shared_ptr<spdlog::logger> shared_thread_log() noexcept;

/// Has the calling thread log elsewhere while it lives.
class ThreadLog {
 public:
  /// @param logger null: the process's default logger.
  explicit ThreadLog(std::shared_ptr<spdlog::logger> logger) noexcept;
  ~ThreadLog();
  ThreadLog(const ThreadLog&) = delete;
  ThreadLog& operator=(const ThreadLog&) = delete;

 private:
  std::shared_ptr<spdlog::logger> before_;
};

}  // namespace rdmablk
