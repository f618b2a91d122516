#include "common/softverbs/verbs/queue_pair_registry.h"

#include <algorithm>

#include "common/softverbs/verbs/queue_pair.h"

namespace softverbs {

uint32_t QueuePairRegistry::add(QueuePair* queue_pair) {
  std::lock_guard lock(mutex_);
  for (uint32_t tried = 1; tried < kQueuePairsPerProcess; ++tried) {
    const uint32_t index = next_;
    next_ = next_ + 1 == kQueuePairsPerProcess ? 1 : next_ + 1;
    if (owners_[index] != nullptr) continue;
    owners_[index] = queue_pair;
    highest_ = std::max(highest_, index);
    return index;
  }
  return 0;
}

void QueuePairRegistry::remove(uint32_t index, const QueuePair* queue_pair) {
  std::lock_guard lock(mutex_);
  if (owners_[index] != queue_pair) return;
  owners_[index] = nullptr;
  slots_[index] = nullptr;
}

QueuePair* QueuePairRegistry::find(uint32_t qpn) const {
  QueuePair* found = slots_[qpn & (kQueuePairsPerProcess - 1)];
  return found != nullptr && found->qp_num == qpn ? found : nullptr;
}

}  // namespace softverbs
