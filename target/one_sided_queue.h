#pragma once

#include <memory>

#include "common/verbs/completion_queue.h"
#include "target/attachment.h"
#include "target/counters.h"
#include "target/io_queue.h"

namespace rdmablk::target {

/// The target's end of an I/O queue of an export that is served one-sided: its device answers READ
/// and WRITE, and nothing is ever posted here. It lives in the protection domain of its attachment,
/// which is what keeps a read-only one from writing: taking the right away from the queue pair as
/// well (IBV_QP_ACCESS_FLAGS) has no effect on soft-iWARP once rdma_cm has made it. Once it is
/// destroyed, nothing that came over it can touch the export any more.
class OneSidedQueue final : public IoQueue {
 public:
  /// Takes the peer's request to connect, without answering it yet.
  /// @param connection a request of the peer. Throws SystemError, and leaves it to the caller then.
  OneSidedQueue(std::unique_ptr<cm::Connection>& connection, const Attachment& attachment,
                std::uint16_t number, QueueGround ground, Counters& counters, IoQueueOwner& owner);
  ~OneSidedQueue() override;

  std::string peer() const override { return connection_->peer(); }
  Footprint footprint() const noexcept override { return {.queue_pairs = 1}; }
  void accept() override;

 private:
  void begin_close() override;

  Counters& counters_;
  verbs::CompletionQueue cq_;  // outlives the queue pair
  std::unique_ptr<cm::Connection> connection_;
};

}  // namespace rdmablk::target
