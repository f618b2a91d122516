#pragma once

#include <liburing.h>

namespace rdmablk::copy {

/// Owns an io_uring(7). One thread at a time.
class IoRing {
 public:
  /// @param entries operations that are under way at a time. Throws Error.
  explicit IoRing(unsigned entries);
  ~IoRing() { io_uring_queue_exit(&ring_); }
  IoRing(const IoRing&) = delete;
  IoRing& operator=(const IoRing&) = delete;

  /// Readable as long as an operation has ended and was not taken.
  int fd() const noexcept { return ring_.ring_fd; }

  /// A place for one more operation; there is one as long as no more than `entries` are under way.
  io_uring_sqe* next_entry() noexcept;

  /// Hands the operations that were prepared to the kernel. What it does not take now, it is given
  /// the next time.
  void submit() noexcept {
    if (io_uring_sq_ready(&ring_) > 0) io_uring_submit(&ring_);
  }

  /// Takes the operations that have ended.
  /// @param handle called with the user data of each and its result, as of the system call, or a
  /// negative errno value.
  template <typename Handle>
  void reap(Handle handle) noexcept {
    io_uring_cqe* entry = nullptr;
    while (io_uring_peek_cqe(&ring_, &entry) == 0) {
      void* const data = io_uring_cqe_get_data(entry);
      const int result = entry->res;
      io_uring_cqe_seen(&ring_, entry);
      handle(data, result);
    }
  }

 private:
  io_uring ring_{};
};

}  // namespace rdmablk::copy
