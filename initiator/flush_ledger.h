#pragma once

#include <atomic>
#include <cstdint>

namespace rdmablk::initiator {

/// Whether an image has writes that were acknowledged and that no flush has covered since: those
/// would be lost if the target's host crashed. The queues of the image note what they get answers
/// to, from any thread, without a lock: the shared words change once a flush, not once a write.
///
/// Flushes are numbered as they are posted. One covers the writes whose answers came before it was
/// posted, that is, while its number had not been given yet.
class FlushLedger {
 public:
  /// A flush is about to be posted. @return its number.
  std::uint64_t begin_flush() noexcept { return begun_.fetch_add(1) + 1; }

  /// A flush has succeeded.
  void end_flush(std::uint64_t number) noexcept { raise(flushed_, number); }

  /// The answer to a write that is not durable has come, and it is about to be acknowledged.
  void note_write() noexcept { raise(needed_, begun_.load() + 1); }

  /// Whoever notes a write first, and then finds that its connection has not been ended, may
  /// acknowledge it: who ends connections first and asks afterwards is told of it.
  bool has_unflushed() const noexcept { return needed_.load() > flushed_.load(); }

 private:
  /// Sequentially consistent, as the promise of has_unflushed() needs it.
  static void raise(std::atomic<std::uint64_t>& value, std::uint64_t to) noexcept {
    auto seen = value.load();
    while (seen < to && !value.compare_exchange_weak(seen, to)) {
    }
  }

  std::atomic<std::uint64_t> begun_ = 0;    ///< flushes
  std::atomic<std::uint64_t> needed_ = 0;   ///< the flush that covers all writes; zero: none
  std::atomic<std::uint64_t> flushed_ = 0;  ///< the last flush that has succeeded
};

}  // namespace rdmablk::initiator
