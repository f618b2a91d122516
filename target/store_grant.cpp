#include "target/store_grant.h"

#include <algorithm>
#include <optional>
#include <utility>

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

/// A resident export's commands are as many as the protocol says.
bool can_shrink(const Offer& offer, const SlotLayout& layout) {
  return offer.resident == nullptr && layout.count > 1;
}

std::optional<SlotMemory> take(SlotBudget& all, SlotBudget* client, std::uint64_t bytes) {
  SlotMemory memory{all.take(bytes), client != nullptr ? client->take(bytes) : SlotBudget::Share()};
  if (!memory.all || (client != nullptr && !memory.client)) return std::nullopt;
  return memory;
}

}  // namespace

std::shared_ptr<StoreUse> grant_store(const Offer& offer, protocol::Attach& request,
                                      const Limits& limits, SlotBudget* client) {
  SlotLayout layout = layout_for(offer, request, limits);
  request.queues = std::clamp<std::uint16_t>(request.queues, 1, limits.queues);
  auto memory = take(*offer.budget, client, request.queues * layout.bytes());
  while (!memory && (request.queues > 1 || can_shrink(offer, layout))) {
    if (request.queues > 1) {
      request.queues /= 2;
    } else {
      layout.count /= 2;
    }
    memory = take(*offer.budget, client, request.queues * layout.bytes());
  }
  if (!memory) return nullptr;
  return std::make_shared<StoreUse>(*offer.store, offer.resident,
                                    request.access == protocol::Access::read_write, layout,
                                    std::move(*memory));
}

std::uint64_t full_queue_bytes(std::uint32_t alignment, const Limits& limits) {
  return SlotLayout{limits.slots, limits.slot_size, alignment}.bytes();
}

}  // namespace rdmablk::target
