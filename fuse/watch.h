#pragma once

#include <atomic>
#include <cstdint>
#include <vector>

#include "common/unique_fd.h"

namespace rdmablk::fuse {

/// How workers share the kernel's requests: one keeps watch, the others rest.
///
/// The kernel wakes a sleeping worker for each request, also when another one is awake and about to
/// take it: with few requests around, workers would wake each other's for nothing, or spin side by
/// side. So the worker on watch alone waits for requests, and serves them alone as long as they are
/// few. It calls another one when they are many, and leaves the watch to another one when it has no
/// room for more. A worker that rests still waits for its own completions.
///
/// Whenever a request waits and some worker has room, a worker is awake or on watch with room, or
/// has been called: to rest is refused when nobody is on watch, and who leaves the watch calls.
/// All of it may be used by any worker's thread; nothing blocks.
class Watch {
 public:
  /// @param workers at most 64, numbered from 0. Throws SystemError.
  explicit Watch(unsigned workers);
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;

  /// Takes the watch if nobody has it. @return whether this worker has it now.
  bool take(unsigned worker) noexcept;

  /// Leaves the watch, if this worker has it, and calls somebody else to it.
  void leave(unsigned worker) noexcept;

  /// Calls one of those that rest, if any do.
  void call() noexcept;

  /// Says that this worker rests, so that it may be called.
  /// @return false when it must not, as nobody is on watch.
  bool rest(unsigned worker) noexcept;

  /// Whether any worker rests: it has room for requests. Any thread.
  bool has_resting() const noexcept { return resting_.load() != 0; }

  /// Says that it rests no more.
  void rise(unsigned worker) noexcept;

  /// Readable when this worker, which rests, has been called; until it rises.
  int fd(unsigned worker) const noexcept { return calls_[worker].get(); }

 private:
  static constexpr int kNobody = -1;
  static std::uint64_t bit(unsigned worker) noexcept { return std::uint64_t{1} << worker; }

  std::atomic<int> on_watch_{kNobody};
  std::atomic<std::uint64_t> resting_{0};  ///< a bit a worker; who clears one of another, calls it
  std::vector<UniqueFd> calls_;
};

}  // namespace rdmablk::fuse
