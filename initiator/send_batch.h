#pragma once

#include <infiniband/verbs.h>

#include <array>

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
    work.sg_list = &segments_[size_];
    work.num_sge = 1;
    ++size_;
    return work;
  }

  /// Posts what was added, and is empty again. @return 0 or an errno value.
  int post(verbs::QueuePair& qp) noexcept {
    if (size_ == 0) return 0;
    for (unsigned i = 0; i + 1 < size_; ++i) work_[i].next = &work_[i + 1];
    size_ = 0;
    ibv_send_wr* unposted = nullptr;
    return qp.post_send(work_[0], unposted);
  }

 private:
  std::array<ibv_send_wr, kCapacity> work_;
  std::array<ibv_sge, kCapacity> segments_;
  unsigned size_ = 0;
};

}  // namespace rdmablk::initiator
