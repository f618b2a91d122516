#include "fuse/slot_pool.h"

namespace rdmablk::fuse {

SlotPool::SlotPool(std::span<std::byte> memory, const initiator::MemoryKeys* keys)
    : slots_(memory.size() / kSlotSize) {
  std::byte* place = memory.data();
  for (Slot& slot : slots_) {
    slot.memory = place;
    slot.data = slot.payload();
    slot.keys = keys;
    slot.next = free_;
    free_ = &slot;
    place += kSlotSize;
  }
}

Slot* SlotPool::take() noexcept {
  Slot* const slot = free_;
  if (slot == nullptr) return nullptr;
  free_ = slot->next;
  ++taken_;
  return slot;
}

void SlotPool::give_back(Slot& slot) noexcept {
  slot.next = free_;
  free_ = &slot;
  --taken_;
}

}  // namespace rdmablk::fuse
