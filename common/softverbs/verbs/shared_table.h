#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstdint>

#include "common/softverbs/file_descriptor.h"
#include "common/softverbs/verbs/death_note.h"
#include "common/softverbs/verbs/limits.h"

namespace softverbs {

/// One memory region as a peer sees it. `key` is written last when the region is registered and
/// cleared first when it is deregistered; 0 means that there is none.
struct alignas(64) MemoryRegionSlot {
  std::atomic<uint32_t> key;
  std::atomic<uint32_t> pd;
  std::atomic<uint32_t> access;
  /// The owner's descriptor of the memfd that the memory lies in; -1 when it lies in none.
  std::atomic<int32_t> memfd;
  std::atomic<uint64_t> iova;     ///< The address that work requests name.
  std::atomic<uint64_t> address;  ///< Where that is in the owner's memory.
  std::atomic<uint64_t> length;
  std::atomic<uint64_t> memfd_offset;  ///< Where the memory begins in the memfd.
};

/// One queue pair as a peer sees it. Written by its owner, except `busy`.
struct alignas(64) QueuePairSlot {
  std::atomic<uint32_t> qpn;  ///< 0: no such queue pair.
  std::atomic<uint32_t> state;
  std::atomic<uint32_t> pd;
  std::atomic<uint32_t> access;
  std::atomic<uint32_t> dest_qpn;
  std::atomic<uint32_t> rq_psn;
  std::atomic<uint32_t> port;  ///< What its packets come from; see port_name().
  std::atomic<uint64_t> dest_token;
  /// Held by the requester around its checks and its copy; see BusyWord.
  alignas(64) std::atomic<uint32_t> busy;
};

/// A device's port and the version of RoCE that a queue pair speaks on it: who wants to reach a
/// queue pair must address the one and speak the other.
inline constexpr uint32_t port_name(int device, uint32_t gid_type) {
  return static_cast<uint32_t>(device) | gid_type << 8;
}

inline constexpr uint32_t device_of_port(uint32_t name) {
  return name & 0xff;
}

/// What a process publishes to the processes that it is connected to, in a memfd: its memory
/// regions and its queue pairs. A peer maps it when a queue pair goes to RTR.
struct SharedTable {
  uint64_t token;                    ///< Random identity of the process.
  std::atomic<uint32_t> ports_down;  ///< A bit for each device: nothing reaches its port.
  alignas(64) DeathNote death;
  MemoryRegionSlot regions[kMaxMemoryRegions];
  QueuePairSlot queue_pairs[kQueuePairsPerProcess];

  [[nodiscard]] QueuePairSlot& queue_pair(uint32_t qpn) {
    return queue_pairs[qpn & (kQueuePairsPerProcess - 1)];
  }
};

static_assert(std::atomic<uint32_t>::is_always_lock_free &&
              std::atomic<uint64_t>::is_always_lock_free);

/// A mapping of a SharedTable.
class SharedTableMapping {
 public:
  SharedTableMapping() = default;
  /// Maps the table in `memfd`. Throws std::system_error when it is no table or cannot be mapped.
  explicit SharedTableMapping(int memfd);
  SharedTableMapping(SharedTableMapping&& other) noexcept
      : table_(std::exchange(other.table_, nullptr)) {}
  SharedTableMapping& operator=(SharedTableMapping&& other) noexcept {
    std::swap(table_, other.table_);
    return *this;
  }
  SharedTableMapping(const SharedTableMapping&) = delete;
  SharedTableMapping& operator=(const SharedTableMapping&) = delete;
  ~SharedTableMapping();

  [[nodiscard]] SharedTable* get() const { return table_; }

  /// Makes the memfd of an empty table. Throws std::system_error.
  static FileDescriptor create();

 private:
  SharedTable* table_ = nullptr;
};

/// The per-queue-pair word that makes `ibv_destroy_qp` and `ibv_dereg_mr` mean it. The one
/// requester of a queue pair holds the word of its peer's queue pair around "check, copy"; the
/// owner, having revoked what it revokes, waits until the word was free once. Both sides use
/// sequentially consistent accesses, so either the requester sees the revocation or the owner
/// sees the word held.
///
/// Layout: bit 0 held, bit 1 somebody waits, above a count of acquisitions.
class BusyWord {
 public:
  /// Holds `word` until destruction. Only the queue pair's one requester may do so.
  explicit BusyWord(std::atomic<uint32_t>& word);
  BusyWord(const BusyWord&) = delete;
  BusyWord& operator=(const BusyWord&) = delete;
  ~BusyWord();

  /// Waits until an acquisition that was under way at the call is over, or until the process
  /// behind `owner_pidfd` has died (-1: the owner is this process).
  static void wait_until_free(std::atomic<uint32_t>& word, int owner_pidfd);

  [[nodiscard]] static bool is_held(const std::atomic<uint32_t>& word) {
    return (word.load() & kHeld) != 0;
  }

 private:
  static constexpr uint32_t kHeld = 1;
  static constexpr uint32_t kWaited = 2;
  static constexpr uint32_t kOne = 4;

  std::atomic<uint32_t>& word_;
};

}  // namespace softverbs
