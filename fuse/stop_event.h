#pragma once

#include <sys/eventfd.h>

#include <atomic>
#include <cerrno>

#include "common/error.h"
#include "common/unique_fd.h"

namespace rdmablk::fuse {

/// Something that happens once, told by one thread to any number of others, who look at
/// it or wait for its descriptor to become readable; it stays so.
class StopEvent {
 public:
  StopEvent() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (!fd_) throw SystemError("make an eventfd", errno);
  }

  /// May be called by any thread, more than once.
  void set() noexcept {
    set_.store(true, std::memory_order_release);
    ::eventfd_write(fd_.get(), 1);
  }

  bool is_set() const noexcept { return set_.load(std::memory_order_acquire); }

  int fd() const noexcept { return fd_.get(); }

 private:
  UniqueFd fd_;
  std::atomic<bool> set_{false};
};

}  // namespace rdmablk::fuse
