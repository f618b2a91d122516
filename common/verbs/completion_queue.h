#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <memory>
#include <span>
#include <string>

#include "common/verbs/completion_channel.h"

namespace rdmablk::verbs {

/// A completion queue (ibv_create_cq(3)). Outlives its queue pairs. One thread polls it.
class CompletionQueue {
 public:
  /// @param entries completions that it can hold: at least all send and receive work requests of
  /// its queue pairs, since unsignalled ones complete too when they fail.
  /// @param channel told of completions once armed; outlives the queue; may be null.
  /// Throws SystemError.
  CompletionQueue(ibv_context* context, unsigned entries, CompletionChannel* channel);

  ibv_cq* get() const noexcept { return cq_.get(); }

  /// Takes completions (ibv_poll_cq(3)).
  /// @return how many were written to `completions`; 0 when there are none. A queue that cannot be
  /// polled any more (it overflowed, its device is gone) has none either: its queue pair's state
  /// tells.
  std::size_t poll(std::span<ibv_wc> completions) noexcept;

  /// Asks for one event on the channel at the next completion (ibv_req_notify_cq(3)). Those that
  /// came before cause none: poll once more after arming, then sleep.
  void arm() noexcept;

 private:
  struct Destroy {
    void operator()(ibv_cq* cq) const noexcept { ibv_destroy_cq(cq); }
  };
  std::unique_ptr<ibv_cq, Destroy> cq_;
};

/// Whether a receive that succeeded took a SEND, whose bytes are in its buffer. An RDMA WRITE with
/// an immediate value takes a receive as well, and leaves its buffer as it was; its length is then
/// that of what was written elsewhere.
inline bool has_message(const ibv_wc& completion) noexcept {
  return completion.opcode == IBV_WC_RECV;
}

/// One line about a failed completion: what the device says of its status.
std::string describe(const ibv_wc& completion);

}  // namespace rdmablk::verbs
