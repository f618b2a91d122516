#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>

namespace softverbs {

/// The pages that a process has registered, counted as the kernel's RDMA core counts them: every
/// registration anew, page by page, against RLIMIT_MEMLOCK, unless CAP_IPC_LOCK is effective
/// (setrlimit(2), capabilities(7)).
class PinnedMemory {
 public:
  /// Counts the pages of [address, address + length).
  /// \return 0, or ENOMEM when that would be above the limit; then nothing is counted.
  int pin(uint64_t address, size_t length);
  void unpin(uint64_t address, size_t length);

 private:
  std::mutex mutex_;
  uint64_t pages_ = 0;
};

/// Makes sure that [address, address + length) is mapped, and writable when `writable`, and
/// brings its pages in, as a registration does.
/// \return 0 or EFAULT.
int populate(uint64_t address, size_t length, bool writable);

}  // namespace softverbs
