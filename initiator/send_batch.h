#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstdint>

#include "common/verbs/posted_sends.h"
#include "common/verbs/queue_pair.h"

namespace rdmablk::initiator {

/// Send work requests of one segment each that are posted in one go, in their order.
class SendBatch {
 public:
  static constexpr unsigned kCapacity = 16;

  unsigned size() const noexcept { return size_; }
  unsigned room() const noexcept { return kCapacity - size_; }

  /// Adds a work request that is signalled; the caller fills in the rest. @pre room() > 0
  ibv_send_wr& add(ibv_wr_opcode opcode, const ibv_sge& segment) noexcept {
    segments_[size_] = segment;
    ibv_send_wr& work = work_[size_];
    work = {};
    work.opcode = opcode;
    work.send_flags = IBV_SEND_SIGNALED;
    work.num_sge = 1;
    ++size_;
    return work;
  }

  /// Adds what another batch has, behind the rest; that is empty then. @pre room() for it
  void append(SendBatch& other) noexcept {
    for (unsigned i = 0; i < other.size_; ++i) {
      segments_[size_] = other.segments_[i];
      work_[size_] = other.work_[i];
      ++size_;
    }
    other.size_ = 0;
  }

  /// Posts what was added, and is empty again. @return 0 or an errno value.
  int post(verbs::QueuePair& qp) noexcept {
    if (size_ == 0) return 0;
    for (unsigned i = 0; i < size_; ++i) {
      work_[i].sg_list = &segments_[i];
      work_[i].next = i + 1 < size_ ? &work_[i + 1] : nullptr;
    }
    size_ = 0;
    ibv_send_wr* unposted = nullptr;
    return qp.post_send(work_[0], unposted);
  }

  /// The same with one completion for all SENDs, that of the last, and notes what it posts: each
  /// completion tells of all that was posted before. READs, and what the caller has left
  /// unsignalled, stay as they are. Not on iWARP, where a SEND may complete before the READ that it
  /// was posted behind. @pre the last one is signalled; `posted` has room.
  int post_quietly(verbs::QueuePair& qp, verbs::PostedSends& posted) noexcept {
    for (unsigned i = 0; i < size_; ++i) {
      posted.add(work_[i].wr_id);
      const bool is_needless = work_[i].opcode == IBV_WR_SEND && i + 1 < size_;
      if (is_needless) work_[i].send_flags &= ~unsigned{IBV_SEND_SIGNALED};
    }
    return post(qp);
  }

 private:
  std::array<ibv_send_wr, kCapacity> work_;
  std::array<ibv_sge, kCapacity> segments_;
  unsigned size_ = 0;
};

}  // namespace rdmablk::initiator
