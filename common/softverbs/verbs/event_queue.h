#pragma once

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <deque>
#include <mutex>

#include "common/softverbs/file_descriptor.h"

namespace softverbs {

/// Events behind a descriptor that programs poll and may set O_NONBLOCK on. The descriptor is a
/// counting eventfd whose count is the number of queued events, changed under the same lock, so
/// reading it never blocks while the lock is held. Thread-safe.
template <typename Event>
class EventQueue {
 public:
  EventQueue() : fd_(eventfd(0, EFD_SEMAPHORE | EFD_CLOEXEC)) {}

  /// -1 when the descriptor could not be made.
  [[nodiscard]] int fd() const { return fd_.get(); }

  void push(const Event& event) {
    std::lock_guard lock(mutex_);
    events_.push_back(event);
    eventfd_write(fd_.get(), 1);
  }

  /// No event will come any more: who waits for one, now or later, gets EIO. The descriptor stays
  /// readable.
  void close() {
    std::lock_guard lock(mutex_);
    if (closed_) return;
    closed_ = true;
    eventfd_write(fd_.get(), 1);
  }

  /// Takes the oldest event, waiting for one unless the descriptor is non-blocking.
  /// `delivered` is called with it under the lock.
  /// \return 0, or -1 and errno (EAGAIN, EINTR, EIO when it is closed and empty).
  template <typename Delivered>
  int take(Event& event, Delivered delivered) {
    for (;;) {
      {
        std::lock_guard lock(mutex_);
        if (!events_.empty()) {
          event = events_.front();
          events_.pop_front();
          count_down();
          delivered(event);
          return 0;
        }
        if (closed_) {
          errno = EIO;
          return -1;
        }
      }
      if (fcntl(fd_.get(), F_GETFL) & O_NONBLOCK) {
        errno = EAGAIN;
        return -1;
      }
      pollfd entry{fd_.get(), POLLIN, 0};
      if (poll(&entry, 1, -1) < 0) return -1;
    }
  }

  /// Removes the events that nobody took yet and that `matches`. Afterwards no `delivered` runs
  /// for one of them.
  template <typename Matches>
  void discard(Matches matches) {
    std::lock_guard lock(mutex_);
    const auto kept = std::remove_if(events_.begin(), events_.end(), matches);
    for (auto gone = kept; gone != events_.end(); ++gone) count_down();
    events_.erase(kept, events_.end());
  }

 private:
  void count_down() {
    eventfd_t value = 0;
    eventfd_read(fd_.get(), &value);
  }

  FileDescriptor fd_;
  std::mutex mutex_;
  std::deque<Event> events_;
  bool closed_ = false;
};

}  // namespace softverbs
