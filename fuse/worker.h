#pragma once

#include <fuse3/fuse_lowlevel.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>

#include "common/unique_fd.h"
#include "fuse/fuse_session.h"
#include "fuse/last_flush.h"
#include "fuse/slot_pool.h"
#include "fuse/stop_event.h"
#include "fuse/watch.h"
#include "initiator/image.h"

namespace rdmablk::fuse {

/// Serves requests of the kernel on one thread: reads them from a descriptor of /dev/fuse of its
/// own straight into registered memory, submits what concerns the image's data to a queue of its
/// own, and answers when that is done. It never blocks on one request; it takes requests as long as
/// there are any and it has free slots, posts them in one go, and sleeps when there is nothing left
/// to do. Per request it allocates nothing and takes no lock (libfuse does both).
///
/// A worker without a free slot leaves the kernel's requests to the others, or waiting; interrupts
/// wait with them. An interrupted request ends as any other, when its data has arrived.
class Worker {
 public:
  using Clock = std::chrono::steady_clock;

  struct Settings {
    unsigned depth = 32;                 ///< slots, and the depth of the queue
    std::chrono::microseconds spin{10};  ///< how long it looks for more before it sleeps
  };

  /// Makes the queue and the buffers. Throws Error; verbs::MemlockError.
  /// @param number of this worker on the watch. Image and watch outlive the worker.
  Worker(initiator::Image& image, Watch& watch, unsigned number, const Settings& settings);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Joins a mounted session, to serve it until it is unmounted or `stop` is set. Throws
  /// SystemError. Both outlive the run.
  void open(FuseSession& session, const StopEvent& stop);

  /// Serves, on the calling thread, and sets `ended` when there is nothing more to serve. Then
  /// answers what is in flight when it completes soon, and the rest with EIO, and flushes; when it
  /// returns, the kernel's connection does not know this worker any more.
  void run(StopEvent& ended) noexcept;

  /// The worker that runs on the calling thread. For libfuse's operations, which are not told.
  static Worker& current() noexcept;

  /// For an operation: has the image work on the request that is being processed; the worker
  /// answers it in the end. The range lies within the image, and what is read or written is no
  /// longer than kMaxPayload. A write takes its data from the slot, where the kernel put it.
  /// @param durable a write, zero or discard is on stable storage before it is answered.
  void submit(fuse_req_t request, initiator::Operation operation, std::uint64_t offset,
              std::uint64_t length, bool durable = false) noexcept;

  /// For an operation: the same for lseek(2), which looks for a hole, or for data, from an offset
  /// within the image on, `length` bytes before its end.
  void seek(fuse_req_t request, bool wants_hole, std::uint64_t offset,
            std::uint64_t length) noexcept;

  /// For an operation: kMaxPayload bytes to make an answer in.
  std::span<std::byte> scratch() noexcept { return {current_slot_->payload(), kMaxPayload}; }

 private:
  enum class Intake { nothing, some, ended };

  void serve() noexcept;
  Intake take_requests() noexcept;
  bool complete() noexcept;
  void process(Slot& slot, std::size_t size) noexcept;
  void answer(Slot& slot) noexcept;
  void answer_seek(Slot& slot) noexcept;
  void wait() noexcept;
  template <typename Done>
  bool complete_within(Clock::duration time, Done done) noexcept;
  void drain() noexcept;
  void flush_last() noexcept;
  void fail_rest() noexcept;

  Settings settings_;
  Watch& watch_;
  unsigned number_;
  std::unique_ptr<initiator::RequestBuffers> buffers_;
  SlotPool slots_;
  std::unique_ptr<initiator::Queue> queue_;
  FuseSession* session_ = nullptr;
  const StopEvent* stop_ = nullptr;
  UniqueFd requests_;  ///< this worker's descriptor of /dev/fuse
  UniqueFd epoll_;
  Slot* current_slot_ = nullptr;   ///< that holds the message being processed
  bool submitted_ = false;         ///< it went to the queue
  std::uint64_t taken_bytes_ = 0;  ///< of the requests that were taken in one go
  bool has_more_to_seek_ = false;  ///< a seek was submitted again
  bool flushes_at_end_;            ///< flushing has something to do
  LastFlush last_flush_;
};

}  // namespace rdmablk::fuse
