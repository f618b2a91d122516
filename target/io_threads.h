#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "target/io_thread.h"

namespace rdmablk::target {

/// The I/O threads of a target. Used by its control thread.
class IoThreads {
 public:
  /// @param count of threads that serve queues; at least 1. @param files see IoUring.
  /// Throws SystemError.
  IoThreads(std::size_t count, std::span<const int> files);

  /// The thread for the next queue: they take turns.
  IoThread& next() noexcept;

  /// Those that serve queues.
  std::span<const std::unique_ptr<IoThread>> all() const noexcept { return threads_; }

  /// A thread for system calls that block; serves no queue.
  IoThread& blocking() noexcept { return *blocking_; }

 private:
  std::vector<std::unique_ptr<IoThread>> threads_;
  std::unique_ptr<IoThread> blocking_;
  std::size_t next_ = 0;
};

}  // namespace rdmablk::target
