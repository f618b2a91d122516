#pragma once

#include <fuse3/fuse_lowlevel.h>

#include <chrono>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "common/unique_fd.h"
#include "fuse/fuse_session.h"
#include "fuse/image_source.h"
#include "fuse/last_flush.h"
#include "fuse/slot_pool.h"
#include "fuse/slow_log.h"
#include "fuse/spin.h"
#include "fuse/stop_event.h"
#include "fuse/waiting_room.h"
#include "fuse/worker_team.h"

namespace rdmablk::fuse {

/// Serves requests of the kernel on one thread: reads them from a descriptor of /dev/fuse of its
/// own straight into registered memory, submits what concerns the image's data to a queue of its
/// own, and answers when that is done. It never blocks on one request; it takes requests as long as
/// there are any and it has free slots, posts them in one go, and sleeps when there is nothing left
/// to do. Per request it allocates nothing and takes no lock (libfuse does both).
///
/// A worker without a free slot leaves the kernel's requests to the others. When its requests do
/// not end for a while (the target is away), and no other worker has room, it reads on all the
/// same, into its waiting room: so interrupts are heard, and what needs no data is answered.
///
/// An interrupted request is answered with EINTR, and not done any more, if it waits: for a
/// connection to come back (Queue::cancel()), or for a slot. One that the device works on ends as
/// any other, or is answered as soon as the connection turns out to be lost.
class Worker {
 public:
  using Clock = std::chrono::steady_clock;

  struct Settings {
    unsigned depth = 32;                   ///< slots, and the depth of the queue
    std::chrono::microseconds spin{50};    ///< how long it looks for more before it sleeps, at most
    std::chrono::milliseconds slow{1000};  ///< a request that takes longer is logged; 0: none is
  };

  /// Makes the queue and the buffers. Throws Error; verbs::MemlockError.
  /// @param number of this worker in the team. Source and team outlive the worker.
  Worker(ImageSource& source, WorkerTeam& team, unsigned number, const Settings& settings);
  ~Worker();
  Worker(const Worker&) = delete;
  Worker& operator=(const Worker&) = delete;

  /// Joins a mounted session, to serve it until it is unmounted or `stop` is set. Throws
  /// SystemError. Both outlive the run.
  void open(FuseSession& session, const StopEvent& stop);

  /// Serves, on the calling thread, and sets `ended` when there is nothing more to serve. Then
  /// answers what is in flight when it completes soon, and the rest with EIO, and flushes what was
  /// written; while the target is away it waits for neither. When it returns, the kernel's
  /// connection does not know this worker any more.
  void run(StopEvent& ended) noexcept;

  /// After run(): why its last flush has not done what it is for; empty if it has, or there was
  /// nothing for it to do.
  const std::string& flush_problem() const noexcept { return flush_problem_; }

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

  // worker.cpp: the loop
  void serve() noexcept;
  bool may_spin() noexcept;
  Intake take_requests() noexcept;
  Slot* take_place() noexcept;
  void give_back(Slot& slot) noexcept;
  bool has_room() const noexcept;
  bool reads_ahead() noexcept;
  void process(Slot& slot, std::size_t size) noexcept;
  void hand_over(Slot& slot) noexcept;
  void wait() noexcept;
  void sleep() noexcept;

  // worker_completion.cpp: how requests end
  bool settle() noexcept;
  bool complete() noexcept;
  void finish(Slot& slot) noexcept;
  bool answer(Slot& slot) noexcept;
  void note(const Slot& slot) noexcept;
  void count_end(const Slot& slot, int error, Clock::time_point now) noexcept;
  bool admit_waiting() noexcept;
  bool let_interrupted_go() noexcept;
  bool interrupt(std::uint64_t number) noexcept;
  template <typename Done>
  bool settle_within(Clock::duration time, Done done) noexcept;
  void drain() noexcept;
  void flush_last() noexcept;
  void fail_rest() noexcept;

  Settings settings_;
  Spin spin_;
  SlowLog slow_log_;
  ImageSource& source_;
  WorkerTeam& team_;
  metrics::IoCounters& counters_;
  unsigned number_;
  std::unique_ptr<initiator::RequestBuffers> buffers_;
  SlotPool slots_;
  WaitingRoom waiting_room_;
  std::unique_ptr<initiator::Queue> queue_;
  FuseSession* session_ = nullptr;
  const StopEvent* stop_ = nullptr;
  UniqueFd requests_;  ///< this worker's descriptor of /dev/fuse
  UniqueFd epoll_;
  Clock::time_point now_{};        ///< at the end of the last round, or the sleep behind it
  Clock::time_point polled_at_{};  ///< the completions that are being dealt with were taken
  Slot* current_slot_ = nullptr;   ///< that holds the message being processed
  bool submitted_ = false;         ///< it went to the queue, or waits for a slot
  std::uint64_t taken_bytes_ = 0;  ///< of the requests that were taken in one go
  bool took_much_ = false;         ///< data, the last time
  unsigned expected_ = 1;          ///< requests that the kernel may have by now
  bool has_news_ = true;           ///< the queue's descriptor told of something, or may have
  bool has_more_to_seek_ = false;  ///< a seek was submitted again
  bool is_stalled_ = false;        ///< all slots are taken, and none became free for a while
  unsigned interrupted_ = 0;       ///< slots whose request is interrupted, and not answered
  bool flush_has_work_;            ///< flushing has something to do
  LastFlush last_flush_;
  std::string flush_problem_;
};

}  // namespace rdmablk::fuse
