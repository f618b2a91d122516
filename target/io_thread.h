#pragma once

#include <atomic>
#include <mutex>
#include <span>
#include <thread>

#include "common/unique_fd.h"
#include "target/io_uring.h"

namespace rdmablk::target {

/// Something to be done on an I/O thread; made and owned by who posts it, and left alone until it
/// runs. It may be posted again from run().
class IoTask {
 public:
  virtual void run() noexcept = 0;

 protected:
  ~IoTask() = default;

 private:
  friend class IoThread;
  IoTask* next_ = nullptr;
};

/// A thread that serves I/O queues: one wait covers its ring, the completion channels of its queues
/// (through the ring), and what others post to it.
class IoThread {
 public:
  /// Starts the thread. @param number for its name. @param files see IoUring. Throws SystemError.
  IoThread(unsigned number, std::span<const int> files);

  /// Ends the thread, once what is in flight has ended. @pre no task will be posted any more.
  ~IoThread();
  IoThread(const IoThread&) = delete;
  IoThread& operator=(const IoThread&) = delete;

  /// Has a task run on the thread, soon. Any thread; tasks of one thread run in their order.
  void post(IoTask& task) noexcept;

  bool is_current() const noexcept;

  /// On the thread only.
  IoUring& ring() noexcept;
};

}  // namespace rdmablk::target
