#pragma once

#include "target/file_store.h"
#include "target/slot_budget.h"
#include "target/slot_layout.h"

namespace rdmablk::target {

class ResidentStore;

/// The memory that the slots of an attachment take: of what there is for all, and of what its
/// client may use.
struct SlotMemory {
  SlotBudget::Share all;
  SlotBudget::Share client;  ///< empty where clients are not told apart
};

/// One attachment's use of an export's file: what its I/O queues share. Shared by the attachment
/// and its queues, since a queue may outlive the attachment while its writes end.
class StoreUse {
 public:
  /// @param store outlives this. @param resident the export, if it is a resident one.
  /// @param memory that its queues' slots may take.
  StoreUse(FileStore& store, ResidentStore* resident, bool writes, const SlotLayout& layout,
           SlotMemory memory);

  /// Has a resident export look for what was written to it and never flushed.
  ~StoreUse();
  StoreUse(const StoreUse&) = delete;
  StoreUse& operator=(const StoreUse&) = delete;

  FileStore& store() const noexcept { return store_; }
  ResidentStore* resident() const noexcept { return resident_; }
  const SlotLayout& layout() const noexcept { return layout_; }

  /// Null when it only reads.
  Writer* writer() noexcept { return writes_ ? &writer_ : nullptr; }

 private:
  FileStore& store_;
  ResidentStore* resident_;
  bool writes_;
  SlotLayout layout_;
  SlotMemory memory_;
  Writer writer_;
};

}  // namespace rdmablk::target
