#pragma once

#include <sys/eventfd.h>

#include <cerrno>
#include <cstdint>

#include "common/error.h"
#include "common/unique_fd.h"

namespace rdmablk::initiator {

/// An eventfd(2): wakes the thread that waits for its descriptor.
class WakeEvent {
 public:
  /// Throws SystemError.
  WakeEvent() : fd_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
    if (!fd_) throw SystemError("make an eventfd", errno);
  }

  /// Readable from signal() until take().
  int fd() const noexcept { return fd_.get(); }

  /// Any thread.
  void signal() noexcept { ::eventfd_write(fd_.get(), 1); }

  /// @return how many signals it takes.
  std::uint64_t take() noexcept {
    eventfd_t count = 0;
    return ::eventfd_read(fd_.get(), &count) == 0 ? count : 0;
  }

 private:
  UniqueFd fd_;
};

}  // namespace rdmablk::initiator
