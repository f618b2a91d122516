#pragma once

#include <memory>

#include "target/catalog.h"
#include "target/limits.h"
#include "target/store_use.h"

namespace rdmablk::target {

/// Grants an attachment whose requests the target's CPU works on what it needs: slots for each of
/// its queues, out of what the target may use for all.
/// @param request cut to what is granted: with little left there are fewer queues, and of one queue
/// fewer slots.
/// @param client what the client may use of that; null: all.
/// @return nothing when not even one slot is left.
std::shared_ptr<StoreUse> grant_store(const Offer& offer, protocol::Attach& request,
                                      const Limits& limits, SlotBudget* client = nullptr);

/// The memory that an I/O queue takes that is granted all its slots, in bytes.
/// @param alignment of the file.
std::uint64_t full_queue_bytes(std::uint32_t alignment, const Limits& limits);

}  // namespace rdmablk::target
