#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "common/softverbs/verbs/limits.h"
#include "common/softverbs/verbs/shared_table.h"

namespace softverbs {

/// The regions of a peer that this process has mapped, each at its first use: READs and WRITEs of
/// them are plain copies. Thread-safe, and without a lock for what is mapped already.
///
/// It counts on the busy word: a region's window is used by those only who hold one of its owner's
/// busy words and have found its key valid. So nobody uses it any more when the owner has
/// deregistered the region, and it can be closed.
class MemoryWindows {
 public:
  MemoryWindows() = default;
  MemoryWindows(const MemoryWindows&) = delete;
  MemoryWindows& operator=(const MemoryWindows&) = delete;
  ~MemoryWindows();

  /// The peer's memory in this process. Call it, and use the result, with the busy word held.
  /// \param pidfd    of the peer
  /// \param region   the region with the key `key`
  /// \param address  where the memory is in the peer's address space
  /// \return null when the region is in no memfd or cannot be mapped.
  char* find(int pidfd, uint32_t key, const MemoryRegionSlot& region, uint64_t address);

  /// Unmaps a region that its owner has deregistered, if it is mapped.
  void close(uint32_t key);
  /// Unmaps all, when the peer has died and nobody can be using them.
  void close_all();

 private:
  struct Window {
    std::atomic<uint32_t> key{0};  ///< 0: none. Written last when it is opened.
    /// The region's first byte; null when it cannot be mapped.
    std::atomic<char*> region{nullptr};
    void* mapping = nullptr;
    size_t size = 0;  ///< Of the mapping.
  };
  static constexpr size_t kGroup = 256;
  using Group = std::array<Window, kGroup>;

  Window* at(uint32_t key);
  Window& open(int pidfd, uint32_t key, const MemoryRegionSlot& region);
  static void map(Window& window, int pidfd, const MemoryRegionSlot& region);
  static void unmap(Window& window);

  std::mutex mutex_;  ///< Held while windows change.
  /// By index of the region; groups stay where they are until destruction.
  std::array<std::atomic<Group*>, kMaxMemoryRegions / kGroup> groups_{};
  std::vector<std::unique_ptr<Group>> owned_;
};

}  // namespace softverbs
