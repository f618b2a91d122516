#pragma once

#include <memory>

#include "target/catalog.h"
#include "target/limits.h"
#include "target/store_use.h"

namespace rdmablk::target {

/// Grants an attachment whose requests the target's CPU works on what it needs: slots for each of
/// its queues, out of what the target may use for all.
/// @param request cut to what is granted: with little left there are fewer queues.
/// @return nothing when not even one queue's slots are left.
std::shared_ptr<StoreUse> grant_store(const Offer& offer, protocol::Attach& request,
                                      const Limits& limits);

}  // namespace rdmablk::target
