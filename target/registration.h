#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "common/protocol/messages.h"
#include "common/verbs/memory_region.h"
#include "common/verbs/protection_domain.h"
#include "common/verbs/registered_buffer.h"
#include "target/footprint.h"

namespace rdmablk::target {

/// The memory of one export, registered with one device for one access: a protection domain of its
/// own, in which nothing lies but the chunks and the table that names them. A queue pair made in it
/// reaches this export, in this way, and nothing else.
class Registration {
 public:
  /// @param device outlives the registration.
  /// @param memory what to register; not owned; outlives the registration.
  /// @param chunk bytes of a chunk, a power of two; smaller ones are made where the device takes no
  /// region of that size.
  /// Throws MemlockError or SystemError.
  Registration(ibv_context* device, std::span<std::byte> memory, std::uint64_t chunk,
               protocol::Access access);

  const verbs::ProtectionDomain& protection_domain() const noexcept { return pd_; }

  Footprint footprint() const noexcept;

  /// Where the table lies, and how the memory is cut.
  protocol::ChunkTable table() const noexcept;

 private:
  void write_table();

  std::uint64_t chunk_;
  verbs::ProtectionDomain pd_;
  std::vector<verbs::MemoryRegion> chunks_;
  verbs::RegisteredBuffer table_;
};

/// The bytes of a chunk table of `chunks` entries.
constexpr std::uint64_t table_bytes(std::uint64_t chunks) {
  return chunks * protocol::ChunkEntry::kSize;
}

/// How many chunks memory of `size` bytes is cut into.
constexpr std::uint64_t chunk_count(std::uint64_t size, std::uint64_t chunk) {
  return (size + chunk - 1) / chunk;
}

}  // namespace rdmablk::target
