#include "target/store_use.h"

#include "target/resident_store.h"

namespace rdmablk::target {

StoreUse::StoreUse(FileStore& store, ResidentStore* resident, bool writes, const SlotLayout& layout,
                   SlotMemory memory)
    : store_(store),
      resident_(resident),
      writes_(writes),
      layout_(layout),
      memory_(std::move(memory)) {
  if (!writes_) return;
  store_.flushes().add(writer_);
  if (resident_ != nullptr) resident_->enter();
}

StoreUse::~StoreUse() {
  if (!writes_) return;
  store_.flushes().remove(writer_);
  if (resident_ != nullptr) resident_->leave();
}

}  // namespace rdmablk::target
