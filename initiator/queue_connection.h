#pragma once

#include <memory>
#include <span>
#include <string>

#include "common/unique_fd.h"
#include "common/verbs/completion_channel.h"
#include "common/verbs/completion_queue.h"
#include "initiator/link.h"
#include "initiator/remote_read.h"

namespace rdmablk::initiator {

/// What the I/O queues of every kind of export have: a connection with its queue pair and
/// completion queue, and one descriptor to wait on for completions and for its loss.
class QueueConnection {
 public:
  /// Takes a connection whose peer is known, and makes its queue pair.
  /// @param pd outlives it. Throws SystemError.
  QueueConnection(std::unique_ptr<Link> link, const verbs::ProtectionDomain& pd,
                  const verbs::QueuePairOptions& options);

  /// Connects. Receives are posted before. Throws ConnectError.
  void connect(std::span<const std::byte> private_data, ControlLoop::Clock::time_point deadline) {
    link_->connect(private_data, deadline);
  }

  verbs::QueuePair& queue_pair() noexcept { return *qp_; }
  verbs::CompletionQueue& completion_queue() noexcept { return cq_; }

  /// For the steps of setting up.
  IdleQueue idle() noexcept { return {*qp_, cq_, events_}; }

  /// Queue::fd(), Queue::drain() and Queue::arm().
  int fd() const noexcept { return wait_set_.get(); }
  void drain() noexcept { events_.drain(); }
  void arm() noexcept {
    events_.drain();
    cq_.arm();
  }

  /// Makes fd() readable when another descriptor is. Throws SystemError.
  void watch(int fd);

  /// Whether it was lost since the last call; failure() then says why.
  bool take_loss() noexcept { return link_->take_loss(); }
  const std::string& failure() const noexcept { return link_->failure(); }
  bool was_closed_by_peer() const noexcept { return link_->was_closed_by_peer(); }

  /// Ends everything outstanding for good: afterwards the device touches none of its memory.
  void destroy_queue_pair() noexcept { link_->destroy_queue_pair(); }

 private:
  verbs::CompletionChannel events_;
  verbs::CompletionQueue cq_;
  std::unique_ptr<Link> link_;  // owns the queue pair: goes before the completion queue
  UniqueFd wait_set_;           // an epoll descriptor
  verbs::QueuePair* qp_;
};

}  // namespace rdmablk::initiator
