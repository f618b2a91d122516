#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>

#include "common/softverbs/verbs/memfd_range.h"
#include "common/softverbs/verbs/pinned_memory.h"
#include "common/softverbs/verbs/shared_table.h"

namespace softverbs {

/// A registered region; what `ibv_reg_mr` hands out. lkey and rkey are the same number: an index
/// into the process's table and, in the low byte, a variant that changes when the index is reused.
struct MemoryRegion : ibv_mr {
  int access = 0;
  std::optional<MemfdRange> memfd;  ///< Where its memory lies, if peers can map that.
};

/// Where in the table the region with this key is.
size_t index_of_key(uint32_t key);

/// Finds the memory behind [address, address + length) of key `key`.
/// \param table     the owner's table
/// \param pd        the protection domain that it must be in
/// \param required  ibv_access_flags that it must all grant
/// \return where it is in the owner's memory; nothing when the device must refuse.
std::optional<uint64_t> translate(SharedTable& table, uint32_t key, uint64_t address,
                                  uint64_t length, uint32_t pd, unsigned required);

/// Hands out the process's region slots. Thread-safe.
class MemoryRegionTable {
 public:
  explicit MemoryRegionTable(SharedTable& table) : table_(table) {}

  /// Publishes a region. \return its key, or 0 when the table is full.
  /// \param memfd  where its memory lies, or null; kept until `release`
  uint32_t publish(uint32_t pd, int access, uint64_t iova, uint64_t address, uint64_t length,
                   const MemfdRange* memfd);
  /// No check that starts after the return finds the region. Copies may be under way.
  void revoke(uint32_t key);
  /// Lets the index be used again, some time later and with another variant.
  void release(uint32_t key);

  PinnedMemory& pinned() { return pinned_; }
  MemfdRegistry& memfds() { return memfds_; }

 private:
  SharedTable& table_;
  PinnedMemory pinned_;
  MemfdRegistry memfds_;
  std::mutex mutex_;
  uint32_t fresh_ = 1;              ///< Indexes from here on were never used.
  std::deque<uint32_t> free_keys_;  ///< Keys whose index is free, oldest first.
};

}  // namespace softverbs
