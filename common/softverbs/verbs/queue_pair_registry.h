#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>
#include <mutex>

#include "common/softverbs/verbs/limits.h"

namespace softverbs {

class QueuePair;

/// The queue pairs of the process by number. Its lock is taken before any queue pair's locks, and
/// holding it keeps the queue pairs alive: the service thread handles messages under it.
class QueuePairRegistry {
 public:
  /// Reserves an index, the one that rested longest, for a queue pair that is being made: nobody
  /// finds it. \return 0 when all are in use.
  uint32_t add(QueuePair* queue_pair);
  /// Lets the queue pair be found, now that it is made. Call it under `lock`.
  void publish(uint32_t index) { slots_[index] = owners_[index]; }
  /// Does nothing when the index is another queue pair's by now.
  void remove(uint32_t index, const QueuePair* queue_pair);

  [[nodiscard]] std::unique_lock<std::mutex> lock() { return std::unique_lock(mutex_); }

  /// The queue pair with this number or null. Call it, and use the result, under `lock`.
  [[nodiscard]] QueuePair* find(uint32_t qpn) const;

  /// Calls `function` for each queue pair. Call it under `lock`.
  template <typename Function>
  void for_each(Function function) const {
    for (uint32_t index = 1; index <= highest_; ++index) {
      if (slots_[index] != nullptr) function(*slots_[index]);
    }
  }

 private:
  std::mutex mutex_;
  std::array<QueuePair*, kQueuePairsPerProcess> owners_{};  ///< Of the indices that are in use.
  std::array<QueuePair*, kQueuePairsPerProcess> slots_{};   ///< Those that can be found.
  uint32_t next_ = 1;
  uint32_t highest_ = 0;
};

}  // namespace softverbs
