#include "target/store_grant.h"

#include <algorithm>

#include "common/protocol/io_messages.h"
#include "common/units.h"

namespace rdmablk::target {
namespace {

SlotLayout layout_for(const Offer& offer, const protocol::Attach& request, const Limits& limits) {
  SlotLayout layout;
  layout.alignment = offer.store->file().alignment();
  if (offer.resident != nullptr) {
    layout.count = protocol::kResidentCommands;
    layout.max_io = limits.slot_size;
  } else {
    layout.count = std::clamp<std::uint32_t>(request.depth, 1, limits.slots);
    layout.max_io = std::clamp<std::uint32_t>(request.max_io, kSectorSize, limits.slot_size);
  }
  return layout;
}

}  // namespace

std::shared_ptr<StoreUse> grant_store(const Offer& offer, protocol::Attach& request,
                                      const Limits& limits) {
  const SlotLayout layout = layout_for(offer, request, limits);
  request.queues = std::clamp<std::uint16_t>(request.queues, 1, limits.queues);
  for (; request.queues > 0; request.queues /= 2) {
    auto memory = offer.budget->take(request.queues * layout.bytes());
    if (!memory) continue;
    return std::make_shared<StoreUse>(*offer.store, offer.resident,
                                      request.access == protocol::Access::read_write, layout,
                                      std::move(memory));
  }
  return nullptr;
}

}  // namespace rdmablk::target
