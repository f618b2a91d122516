#include "initiator/copy/io_ring.h"

#include <fmt/format.h>

#include <cerrno>

#include "common/error.h"

namespace rdmablk::copy {

IoRing::IoRing(unsigned entries) {
  const int result = io_uring_queue_init(entries, &ring_, 0);
  if (result == 0) return;
  const std::string doing = fmt::format("make an io_uring of {} entries", entries);
  if (result != -EPERM && result != -ENOSYS) throw SystemError(doing, -result);
  throw Error(
      fmt::format("cannot {}: {}; the sysctl kernel.io_uring_disabled, or what confines this "
                  "container (seccomp), forbids it",
                  doing, errno_text(-result)));
}

io_uring_sqe* IoRing::next_entry() noexcept {
  io_uring_sqe* entry = io_uring_get_sqe(&ring_);
  while (entry == nullptr) {
    io_uring_submit(&ring_);
    entry = io_uring_get_sqe(&ring_);
  }
  return entry;
}

}  // namespace rdmablk::copy
