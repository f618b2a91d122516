#pragma once

#include <atomic>
#include <boost/intrusive/slist.hpp>
#include <chrono>
#include <mutex>
#include <span>
#include <string_view>
#include <thread>

#include "common/unique_fd.h"
#include "target/io_task.h"
#include "target/io_uring.h"
#include "target/pulse.h"

namespace rdmablk::target {

/// A thread that serves I/O queues: one wait covers its ring, the completion channels of its queues
/// (through the ring), and what others post to it.
class IoThread {
 public:
  using Clock = std::chrono::steady_clock;

  /// Starts the thread. @param number for its name. @param files see IoUring.
  /// @param kind the other part of its name, 4 bytes at most. Throws as IoUring does.
  IoThread(unsigned number, std::span<const int> files, std::string_view kind = "io");

  /// Ends the thread, once what was posted has run and what is in flight has ended. @pre nobody
  /// else will post a task any more.
  ~IoThread();
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  /// Has a task run on the thread, soon; never from within, also on the thread itself.
  /// Any thread; tasks of one thread run in their order.
  void post(IoTask& task) noexcept;

  /// On the thread only: has a task run when all that is known to have happened has been handled,
  /// before the thread waits: for what is cheaper done once for many.
  void defer(IoTask& task) noexcept { deferred_.push_back(task); }

  /// Has the thread show that it does its work, unless it still owes an answer. The thread that
  /// controls.
  void ask_pulse() noexcept;
  const Pulse& pulse() const noexcept { return pulse_; }

  bool is_current() const noexcept { return std::this_thread::get_id() == thread_.get_id(); }

  /// On the thread only.
  IoUring& ring() noexcept { return ring_; }

  /// On the thread only: the time, as it was when the thread first asked since it last waited. For
  /// what needs no more: many requests share one look at the clock.
  Clock::time_point now() noexcept {
    if (!knows_time_) now_ = Clock::now();
    knows_time_ = true;
    return now_;
  }

 private:
  using Tasks = boost::intrusive::slist<IoTask, boost::intrusive::cache_last<true>>;

  /// Wakes the thread up, and has it run what was posted.
  class Mailbox final : public ReadableHandler {
   public:
    Mailbox();
    int fd() const noexcept { return wakeup_.get(); }
    void post(IoTask& task) noexcept;
    void wake() noexcept;
    bool empty() noexcept;
    void on_readable() noexcept override;

   private:
    UniqueFd wakeup_;  ///< eventfd(2)
    std::mutex mutex_;
    Tasks tasks_;
  };

  static void run(Tasks& tasks) noexcept;
  void serve() noexcept;

  Mailbox mailbox_;
  Pulse pulse_;
  IoUring ring_;
  Tasks deferred_;
  Clock::time_point now_{};
  bool knows_time_ = false;
  std::atomic<bool> stopping_ = false;
  std::thread thread_;
};

}  // namespace rdmablk::target
