#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "common/metrics/io_counters.h"

namespace rdmablk::target {

class IoThread;

/// What was asked of a file: each I/O thread counts by itself. Any thread.
class FileCounters {
 public:
  /// Those of a thread, for it alone; valid as long as this. For setting up: takes a lock.
  metrics::IoCounters& of(const IoThread& thread) {
    const std::lock_guard lock(mutex_);
    auto& counters = by_thread_[&thread];
    if (!counters) counters = std::make_unique<metrics::IoCounters>();
    return *counters;
  }

  /// Of all threads.
  metrics::IoFigures figures() const {
    const std::lock_guard lock(mutex_);
    metrics::IoFigures figures;
    for (const auto& [thread, counters] : by_thread_) figures += counters->figures();
    return figures;
  }

 private:
  mutable std::mutex mutex_;
  std::map<const IoThread*, std::unique_ptr<metrics::IoCounters>> by_thread_;
};

}  // namespace rdmablk::target
