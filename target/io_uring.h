#pragma once

#include <liburing.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "target/ring.h"

namespace rdmablk::target {

/// Is told that a descriptor has become readable.
class ReadableHandler {
 public:
  virtual void on_readable() noexcept = 0;

 protected:
  ~ReadableHandler() = default;
};

/// An io_uring(7) with registered files and buffers (Linux 5.19 or later). Everything on one
/// thread, which need not be the one that made it; it lasts until what it submitted has ended (the
/// kernel cancels operations when their thread ends).
class IoUring final : public Ring {
 public:
  /// @param files descriptors, registered in this order; -1: an empty place, for update_file().
  /// They stay open until they are replaced, or as long as the ring.
  /// @param buffers how many buffers may be registered at a time.
  /// Throws SystemError, MemlockError.
  IoUring(std::span<const int> files, unsigned buffers);

  /// Waits for all operations in flight.
  ~IoUring() override;

  /// Puts a file into a place among the registered ones, or takes out what is there.
  /// @param fd -1: nothing. @pre no operation on what is there is in flight.
  /// @return 0 or an errno value.
  int update_file(unsigned number, int fd) noexcept;

  /// Pins memory for the kernel, so that operations on it need no more set-up.
  /// @return its number. Throws SystemError, MemlockError.
  unsigned register_buffer(std::span<std::byte> memory);

  /// The same, if the kernel takes it.
  /// @return RingOperation::kNoBuffer, which works as well and costs more, when it does not.
  unsigned try_register_buffer(std::span<std::byte> memory) noexcept;

  /// Also takes RingOperation::kNoBuffer. @pre no operation on it is in flight.
  void unregister_buffer(unsigned number) noexcept;

  void submit(RingOperation& operation) noexcept override;

  /// Calls the handler from within run() whenever the descriptor becomes readable (also when it is
  /// already), until unwatch(). The handler takes all there is to read: what it leaves is not
  /// announced again.
  /// @param fd stays open until unwatch().
  void watch(int fd, ReadableHandler& handler);
  /// The handler is not called any more once this returns.
  void unwatch(ReadableHandler& handler) noexcept;

  /// Hands what was submitted to the kernel, and calls the handlers of what has ended. What these
  /// submit goes to the kernel with the next run(), in the system call that waits. Not from within
  /// a handler.
  /// @param wait for something to happen first, when nothing has. May return without (signals).
  void run(bool wait);

  /// Operations that have not ended.
  std::size_t in_flight() const noexcept { return in_kernel_ + waiting_.size(); }

 private:
  /// A slot for a watch; used again only after the kernel's last word on the one before.
  struct Watch {
    int fd = -1;
    ReadableHandler* handler = nullptr;  ///< null: not watched (any more)
    bool armed = false;                  ///< the kernel polls and will say when it stops
    bool due = false;                    ///< the kernel must be told to start or to stop
  };

  /// Owns the ring itself.
  struct Handle {
    Handle();
    ~Handle() { io_uring_queue_exit(&ring); }
    Handle(const Handle&) = delete;
    Handle& operator=(const Handle&) = delete;

    io_uring ring{};
  };

  io_uring_sqe* next_entry() noexcept;
  bool start(const RingOperation& operation) noexcept;
  void start_waiting() noexcept;
  void update_watches() noexcept;
  bool update(Watch& watch, std::size_t slot) noexcept;
  void enter(bool wait) noexcept;
  void dispatch() noexcept;
  void on_polled(std::size_t slot, int result, unsigned flags) noexcept;

  Handle handle_;
  std::vector<unsigned> free_buffers_;
  std::vector<Watch> watches_;
  bool watches_due_ = false;
  /// What the kernel has no room for, first come, first served.
  boost::intrusive::slist<RingOperation, boost::intrusive::cache_last<true>> waiting_;
  std::size_t in_kernel_ = 0;  ///< operations
};

}  // namespace rdmablk::target
