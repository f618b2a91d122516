#pragma once

#include <cstdint>

#include "common/memory_mapping.h"
#include "fuse/slot_pool.h"
#include "initiator/request_list.h"

namespace rdmablk::fuse {

/// Places for requests of the kernel that a worker reads although its slots are all taken by
/// requests that do not end. What needs no data of the image is answered from there; the rest waits
/// for a slot, and can be interrupted.
///
/// The memory is not registered with the device, and is not touched before it is needed: nothing is
/// served from here. Used by one thread; nothing here allocates after construction.
class WaitingRoom {
 public:
  /// How many may wait. Asynchronous requests are bounded by the slots of all workers
  /// (max_background), so these are threads that each wait for one request.
  static constexpr unsigned kPlaces = 64;

  /// Throws SystemError.
  WaitingRoom();
  WaitingRoom(const WaitingRoom&) = delete;
  WaitingRoom& operator=(const WaitingRoom&) = delete;

  /// A free place to read a message into. @return null when there is none.
  Slot* take() noexcept { return places_.take(); }
  void give_back(Slot& place) noexcept;

  const SlotPool& places() const noexcept { return places_; }
  bool has_free() const noexcept { return places_.has_free(); }
  bool owns(const Slot& slot) const noexcept;

  /// Has the request in a place wait behind the others.
  void push(Slot& place) noexcept { waiting_.push(place); }

  /// Whether nobody waits.
  bool empty() const noexcept { return waiting_.empty(); }

  /// Moves the request that has waited longest into a free slot. @pre !empty()
  void move_first(Slot& slot) noexcept;

  /// Takes the request with the kernel's number out of the row; its place stays taken.
  /// @return null when it does not wait here.
  Slot* remove(std::uint64_t number) noexcept;

  /// Takes any. @return null when nobody waits.
  Slot* remove_first() noexcept;

 private:
  MemoryMapping memory_;
  SlotPool places_;
  initiator::RequestList waiting_;
};

}  // namespace rdmablk::fuse
