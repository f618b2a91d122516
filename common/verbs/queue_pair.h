#pragma once

#include <infiniband/verbs.h>

#include <memory>

#include "common/verbs/completion_queue.h"
#include "common/verbs/protection_domain.h"

namespace rdmablk::verbs {

/// How much a queue pair holds.
struct QueuePairOptions {
  unsigned send_requests = 1;  ///< work requests posted and not yet completed
  unsigned receive_requests = 1;
  unsigned send_segments = 1;  ///< memory segments a work request
  unsigned receive_segments = 1;

  /// Bytes of a send work request that the device takes along as it is posted (IBV_SEND_INLINE). A
  /// wish: see QueuePair::inline_bytes().
  unsigned inline_bytes = 0;
};

/// What ibv_create_qp(3) takes for a reliable connection whose work requests all go to one
/// completion queue and are signalled one by one.
ibv_qp_init_attr reliable_connection(const CompletionQueue& cq, const QueuePairOptions& options);

class QueuePair;

/// Makes one in the state RESET for a reliable connection, with less inline data than is wished for
/// where the device does not take that much. Throws SystemError.
QueuePair make_queue_pair(const ProtectionDomain& pd, const CompletionQueue& cq,
                          const QueuePairOptions& options);

/// A reliably connected queue pair. Destroying it ends every work request: afterwards the device
/// touches none of their memory, on either side. Any thread may post; one that destroys must know
/// that no other uses it.
class QueuePair {
 public:
  /// Takes ownership of a queue pair, which is destroyed with ibv_destroy_qp(3).
  /// @param inline_bytes the max_inline_data that it was made with.
  explicit QueuePair(ibv_qp* qp, unsigned inline_bytes = 0) noexcept
      : qp_(qp), inline_bytes_(inline_bytes) {}

  ibv_qp* get() const noexcept { return qp_.get(); }

  /// The most that a SEND or WRITE may have with IBV_SEND_INLINE: its memory is free once it is
  /// posted, and the device need not fetch it.
  unsigned inline_bytes() const noexcept { return inline_bytes_; }

  /// Posts a list of send work requests (ibv_post_send(3)).
  /// @param[out] unposted the first that was not taken when it fails; null when all were, or when
  /// the provider does not say (soft-RoCE).
  /// @return 0 or an errno value: EINVAL when the queue pair is not ready to send, ENOMEM when it
  /// is full.
  int post_send(ibv_send_wr& list, ibv_send_wr*& unposted) noexcept;

  /// Posts a list of receive work requests (ibv_post_recv(3)). @return 0 or an errno value.
  int post_receive(ibv_recv_wr& list) noexcept;

  /// The state as the device knows it (ibv_query_qp(3)); IBV_QPS_ERR when it does not answer.
  ibv_qp_state state() const noexcept;

  /// Moves it to the error state, so that all that is outstanding completes with
  /// IBV_WC_WR_FLUSH_ERR. @return 0 or an errno value.
  int fail() noexcept;

 private:
  struct Destroy {
    void operator()(ibv_qp* qp) const noexcept { ibv_destroy_qp(qp); }
  };
  std::unique_ptr<ibv_qp, Destroy> qp_;
  unsigned inline_bytes_;
};

}  // namespace rdmablk::verbs
