#pragma once

#include <sys/types.h>

#include <atomic>

#include "target/io_task.h"

namespace rdmablk::target {

/// Whether an I/O thread still does its work: a task of its own that the thread must get to.
class Pulse final : public IoTask {
 public:
  /// Another question is under way from here on. @pre the last one was answered. The caller posts
  /// this. The thread that controls.
  void ask() noexcept { answered_.store(false, std::memory_order_relaxed); }

  /// Whether the thread has got to the last question; also when nothing was asked. Any thread.
  bool is_answered() const noexcept { return answered_.load(std::memory_order_acquire); }

  /// Whether the thread waits in the kernel for a device and cannot be interrupted (state D of
  /// proc(5)): it is not stuck, its disk is slow, and a restart would help neither. Any thread.
  bool waits_for_device() const;

  void run() noexcept override;

 private:
  std::atomic<pid_t> thread_ = 0;  ///< of the last answer
  std::atomic<bool> answered_ = true;
};

/// Whether a thread of this process is in state D. @param thread its number, as gettid(2) tells.
bool waits_for_device(pid_t thread);

/// @param line of /proc/PID/task/TID/stat; a thread's name may hold anything.
/// @return the letter of its state; zero when there is none.
char thread_state(const char* line) noexcept;

}  // namespace rdmablk::target
