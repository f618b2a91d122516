#pragma once

#include <mutex>

#include "target/export_identity.h"
#include "target/memory_record.h"

namespace rdmablk::target {

/// The identity of an export of nothing but memory: as lasting as that, whatever process holds it.
class MemoryIdentity final : public ExportIdentity {
 public:
  /// @param memory outlives this, and is updated by nobody else while it is served.
  explicit MemoryIdentity(RecordMemory& memory) noexcept
      : memory_(memory), uuid_(memory.record().uuid) {}

  const protocol::Uuid& uuid() const noexcept override { return uuid_; }
  protocol::Generation generation() const override;
  std::uint64_t last_lease() const noexcept override;
  std::uint64_t next_lease() override;
  void note_writer() noexcept override;
  void mark_lost() noexcept override;
  void end_resize(std::uint64_t size) override;

 private:
  mutable std::mutex mutex_;
  RecordMemory& memory_;
  protocol::Uuid uuid_;
};

}  // namespace rdmablk::target
