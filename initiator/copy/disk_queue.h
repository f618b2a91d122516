#pragma once

#include "initiator/copy/io_ring.h"
#include "initiator/queue.h"
#include "initiator/request_list.h"

namespace rdmablk::copy {

/// A queue to a file or block device of this host, by io_uring(7). Zeroes become a hole (discard)
/// or are written by the file system where it can, and else by this.
class DiskQueue final : public initiator::Queue {
 public:
  /// @param fd stays open as long as the queue. @param depth requests under way at a time; more
  /// wait. Throws Error.
  DiskQueue(int fd, unsigned depth) : fd_(fd), depth_(depth), ring_(depth) {}

  void submit(initiator::Request& request) noexcept override;
  void kick() noexcept override;
  std::size_t poll(std::span<initiator::Request*> done) noexcept override;
  bool is_quiet() const noexcept override {
    return waiting_.empty() && done_.empty() && under_way_ == 0;
  }
  int fd() const noexcept override { return ring_.fd(); }
  void arm() noexcept override {}  // the descriptor always tells

 private:
  void start(initiator::Request& request) noexcept;
  void start_zeroing(initiator::Request& request, io_uring_sqe& entry) noexcept;
  void on_ended(initiator::Request& request, int result) noexcept;
  void end(initiator::Request& request, int error) noexcept;

  int fd_;
  unsigned depth_;
  IoRing ring_;
  unsigned under_way_ = 0;
  initiator::RequestList waiting_;
  initiator::RequestList done_;
};

}  // namespace rdmablk::copy
