#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "common/protocol/messages.h"
#include "common/verbs/protection_domain.h"
#include "target/registered_table.h"

namespace rdmablk::target {

/// The memory of one export on one device for one access: a protection domain of its own, in which
/// nothing lies but chunks of that memory and the tables that name them. A queue pair made in it
/// reaches this export, in this way, and nothing else.
class Registration {
 public:
  /// @param device outlives the registration.
  /// @param chunk bytes of a chunk, a power of two; smaller ones are made where the device takes no
  /// region of that size.
  /// Throws SystemError.
  Registration(ibv_context* device, std::uint64_t chunk, protocol::Access access);

  const verbs::ProtectionDomain& protection_domain() const noexcept { return pd_; }

  /// Registers the memory and makes a table of it, which this outlives. Any thread.
  /// @param memory what to register; not owned; outlives the table.
  /// @param before a table of the same memory, maybe of another size: what is the same in both is
  /// not registered anew. Null: there is none.
  /// Throws MemlockError or SystemError.
  std::unique_ptr<const RegisteredTable> make_table(std::span<std::byte> memory,
                                                    std::uint64_t number,
                                                    const RegisteredTable* before) const;

 private:
  std::uint64_t chunk_;
  protocol::Access access_;
  verbs::ProtectionDomain pd_;
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
