#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "common/protocol/messages.h"
#include "common/verbs/memory_region.h"
#include "common/verbs/registered_buffer.h"

namespace rdmablk::target {

/// A chunk table in registered memory, and the chunks that it names. It never changes: another size
/// of the memory has another table. A chunk that is in several tables is deregistered with the last
/// of them.
class RegisteredTable {
 public:
  using Chunk = std::shared_ptr<const verbs::MemoryRegion>;

  /// @param pd outlives it. @param chunk bytes of all chunks but the last. Throws MemlockError or
  /// SystemError.
  RegisteredTable(const verbs::ProtectionDomain& pd, std::vector<Chunk> chunks, std::uint64_t chunk,
                  std::uint64_t number);

  const std::vector<Chunk>& chunks() const noexcept { return chunks_; }

  /// Where it lies, and how the memory is cut.
  protocol::ChunkTable where() const noexcept;

 private:
  std::vector<Chunk> chunks_;
  std::uint64_t chunk_;
  std::uint64_t number_;
  verbs::RegisteredBuffer table_;
};

}  // namespace rdmablk::target
