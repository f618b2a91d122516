#pragma once

#include <atomic>
#include <boost/intrusive/slist.hpp>
#include <chrono>
#include <cstdint>
#include <mutex>
#include <vector>

#include "common/metrics/latency_histogram.h"
#include "target/ring.h"

namespace rdmablk::target {

class ExportIdentity;

/// One attachment that writes to a file: which of its writes are on stable storage. The I/O threads
/// of its queues share it.
class Writer {
 public:
  /// A write is about to be submitted. From here on a failure may be about it: the kernel may write
  /// it out, fail, and report that to a flush before the write is acknowledged.
  void begin() noexcept { ++begun_; }
  /// A write is about to be acknowledged.
  void acknowledge() noexcept { ++acknowledged_; }
  /// A write that begun has ended, whether well (behind acknowledge()) or not.
  void end() noexcept { --begun_; }

  /// Whether writes of it that were acknowledged got lost on their way to stable storage. For good:
  /// the kernel reports such a failure once, and a later fdatasync(2) would succeed without them.
  bool has_failed() const noexcept { return failed_; }

 private:
  friend class FlushGroup;
  std::atomic<std::uint64_t> begun_ = 0;         ///< writes under way
  std::atomic<std::uint64_t> acknowledged_ = 0;  ///< writes
  std::uint64_t submitted_ = 0;                  ///< of these, covered by the fdatasync in flight
  std::uint64_t stable_ = 0;                     ///< of these, known to be on stable storage
  std::atomic<bool> failed_ = false;
};

/// The flushes of one file. Those that wait when an fdatasync(2) is submitted share it; one that
/// arrives later waits for the next, since the one under way may have begun before the writes that
/// it is to cover were done. When one fails, every writer with writes that no earlier one
/// covered, acknowledged or under way, has failed for good. Any I/O thread.
class FlushGroup final : private RingOperation {
 public:
  /// A flush; made and owned by who asks, and left alone until on_flushed().
  class Flush : public boost::intrusive::slist_base_hook<> {
   public:
    const Writer* writer = nullptr;  ///< set by flush()

    /// Everything acknowledged before the flush is on stable storage (0), or not (an errno value).
    /// On any I/O thread; from within flush() when the writer has failed already. May flush again.
    virtual void on_flushed(int error) noexcept = 0;

   protected:
    ~Flush() = default;
  };

  /// @param number of the file on every ring.
  explicit FlushGroup(unsigned number) noexcept;

  /// Whoever comes back with acknowledged writes that a failed flush was to cover must learn of it.
  /// @param identity of the export; outlives this. Before other threads use it.
  void tell_losses(ExportIdentity& identity) noexcept { identity_ = &identity; }

  void add(Writer& writer);
  void remove(Writer& writer) noexcept;  ///< none of its flushes is under way

  /// Makes everything acknowledged before durable.
  /// @param ring of the calling thread. @param writer whose flush it is: fails at once if that has
  /// failed; null for one who does not write.
  void flush(Flush& flush, const Writer* writer, Ring& ring) noexcept;

  /// A write that was to be durable by itself failed: that took the kernel's report of what else
  /// was lost. Same consequences as a failed flush, also for the flushes under way.
  void fail() noexcept;

  /// How often something failed that way. What was written before the last time may be lost though
  /// it can still be read.
  std::uint64_t failures() const noexcept { return failures_; }

  /// How long each fdatasync(2) took.
  metrics::LatencyFigures syncs() const noexcept { return syncs_.figures(); }

 private:
  using Flushes = boost::intrusive::slist<Flush, boost::intrusive::cache_last<true>>;

  void begin_next(Ring& ring) noexcept;
  void mark_failed() noexcept;
  void tell_loss() const noexcept;
  void on_result(int result) noexcept override;

  ExportIdentity* identity_ = nullptr;
  std::atomic<std::uint64_t> failures_ = 0;
  std::mutex mutex_;
  std::vector<Writer*> writers_;
  Flushes waiting_;
  Flushes under_way_;     ///< what the fdatasync in flight is for; empty when there is none
  Ring* ring_ = nullptr;  ///< where that is
  std::chrono::steady_clock::time_point submitted_at_{};  ///< it
  metrics::LatencyHistogram syncs_;                       ///< changed under the mutex
};

}  // namespace rdmablk::target
