#include "fuse/waiting_room.h"

#include <sys/mman.h>

#include <cstring>
#include <functional>

namespace rdmablk::fuse {

WaitingRoom::WaitingRoom()
    : memory_(MemoryMapping::anonymous(kPlaces * kSlotSize)), places_(memory_.bytes(), 0) {}

bool WaitingRoom::owns(const Slot& slot) const noexcept {
  const std::less<const std::byte*> before;
  return !before(slot.memory, memory_.data()) &&
         before(slot.memory, memory_.data() + memory_.size());
}

void WaitingRoom::give_back(Slot& place) noexcept {
  places_.give_back(place);
  // The last one turns off the light: the pages go back to the system.
  if (places_.taken() > 0) return;
  if (::madvise(memory_.data(), memory_.size(), MADV_DONTNEED) == 0) return;
  ::madvise(memory_.data(), memory_.size(), MADV_DONTNEED_LOCKED);  // after mlockall(2)
}

void WaitingRoom::move_first(Slot& slot) noexcept {
  auto& place = static_cast<Slot&>(waiting_.pop());
  slot.take_over(place);
  if (slot.operation == initiator::Operation::write) {
    std::memcpy(slot.payload(), place.payload(), slot.length);
  }
  give_back(place);
}

Slot* WaitingRoom::remove(std::uint64_t number) noexcept {
  Slot* found = nullptr;
  initiator::RequestList rest;
  while (!waiting_.empty()) {
    auto& place = static_cast<Slot&>(waiting_.pop());
    if (found == nullptr && place.number == number) {
      found = &place;
    } else {
      rest.push(place);
    }
  }
  waiting_ = rest;
  return found;
}

Slot* WaitingRoom::remove_first() noexcept {
  return waiting_.empty() ? nullptr : &static_cast<Slot&>(waiting_.pop());
}

}  // namespace rdmablk::fuse
