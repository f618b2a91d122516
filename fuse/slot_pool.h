#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fuse/slot.h"

namespace rdmablk::fuse {

/// The slots of one worker. Used by one thread; nothing here allocates after construction.
class SlotPool {
 public:
  /// Cuts up memory into as many slots as fit.
  /// @param memory aligned to a page; not owned, outlives the pool.
  /// @param keys of the memory, for the requests.
  SlotPool(std::span<std::byte> memory, const initiator::MemoryKeys* keys);
  SlotPool(const SlotPool&) = delete;
  SlotPool& operator=(const SlotPool&) = delete;

  /// Takes a free slot, the one given back last (its memory is still in the caches).
  /// @return null when there is none.
  Slot* take() noexcept;
  void give_back(Slot& slot) noexcept;

  std::size_t size() const noexcept { return slots_.size(); }
  std::size_t taken() const noexcept { return taken_; }
  bool has_free() const noexcept { return free_ != nullptr; }

  /// All slots, free or not.
  std::span<Slot> slots() noexcept { return slots_; }
  std::span<const Slot> slots() const noexcept { return slots_; }

 private:
  std::vector<Slot> slots_;
  Slot* free_ = nullptr;
  std::size_t taken_ = 0;
};

}  // namespace rdmablk::fuse
