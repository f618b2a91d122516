#pragma once

#include <pthread.h>

#include <atomic>
#include <cstdint>

namespace softverbs {

/// Memory shared between processes that tells of its owner's death, without a system call: a robust
/// mutex that a thread of the owner locks for as long as the process lives. The kernel marks it
/// before a process that waits for the owner's end can learn of it.
class DeathNote {
 public:
  /// By a thread of the owner that lives as long as the process.
  void sign();
  /// Whether the process that signed it has died.
  [[nodiscard]] bool reads_dead() const;

 private:
  pthread_mutex_t mutex_;
};

}  // namespace softverbs
