#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <vector>

#include "common/unique_fd.h"

namespace rdmablk::fuse {

/// Hands interrupts from the worker that happened to read them to the one that works on the request
/// that they are about. The reader does not know which that is, so all are told; each looks among
/// its own requests, by the kernel's number, which is never used again. An interrupt whose request
/// has ended meanwhile is found by nobody and forgotten.
///
/// The kernel sends an interrupt only after somebody has read the request. So a worker that looks
/// here after it has processed what it read misses none.
class Interrupts {
 public:
  /// Interrupts that may wait for one worker; more are dropped, and their requests end as if nobody
  /// had interrupted them. A worker looks far more often than so many processes are killed.
  static constexpr std::size_t kMost = 4096;

  /// Throws SystemError.
  explicit Interrupts(unsigned workers);

  /// Tells all workers. Any thread.
  /// @param request the kernel's number of what was interrupted.
  void post(std::uint64_t request) noexcept;

  /// Readable when something waits for this worker.
  int fd(unsigned worker) const noexcept { return boxes_[worker]->event.get(); }

  /// Takes what waits for a worker; costs next to nothing when there is nothing. That worker's
  /// thread.
  /// @return how many numbers were written to `requests`.
  std::size_t take(unsigned worker, std::span<std::uint64_t> requests) noexcept;

 private:
  struct Box {
    UniqueFd event;
    std::atomic<bool> filled = false;
    std::mutex mutex;
    std::vector<std::uint64_t> requests;  ///< never grows beyond what was reserved
  };

  std::vector<std::unique_ptr<Box>> boxes_;
};

}  // namespace rdmablk::fuse
