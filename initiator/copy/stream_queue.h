#pragma once

#include <vector>

#include "initiator/copy/io_ring.h"
#include "initiator/queue.h"
#include "initiator/request_list.h"

namespace rdmablk::copy {

/// A queue to something that is read or written from its beginning to its end: a pipe. Requests are
/// done in the order of their offsets, one at a time, whatever the order in which they come:
/// together they have to cover all of the stream.
///
/// A read that meets the stream's end comes back with fewer bytes, or none: Request::length says
/// how many.
class StreamQueue final : public initiator::Queue {
 public:
  /// @param fd stays open as long as the queue. @param depth requests that it holds at most. Throws
  /// Error.
  StreamQueue(int fd, unsigned depth);

  void submit(initiator::Request& request) noexcept override;
  void kick() noexcept override;
  std::size_t poll(std::span<initiator::Request*> done) noexcept override;

  /// Any request that is not being worked on, as what comes before it may never come. The one that
  /// is ends soon, with ECANCELED if it is not through.
  bool cancel(initiator::Request& request) noexcept override;

  bool is_quiet() const noexcept override { return waiting_.empty() && done_.empty(); }
  int fd() const noexcept override { return ring_.fd(); }
  void arm() noexcept override {}  // the descriptor always tells

 private:
  initiator::Request* next() const noexcept;
  void start() noexcept;
  void wait_for_room() noexcept;
  void on_ended(int result) noexcept;
  void end(int error) noexcept;

  int fd_;
  IoRing ring_;
  std::vector<initiator::Request*> waiting_;
  initiator::RequestList done_;
  initiator::Request* current_ = nullptr;  ///< that the kernel works on
  bool is_waiting_for_room_ = false;
  bool is_over_ = false;
  bool is_cancelled_ = false;  ///< the current one
  std::uint64_t position_ = 0;
};

}  // namespace rdmablk::copy
