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

/// An io_uring(7) with registered files and buffers. Everything on one thread, which need not be
/// the one that made it.
class IoUring final : public Ring {
 public:
  /// @param files descriptors, registered in this order; stay open as long as the ring.
  /// @param buffers how many buffers may be registered at a time.
  /// Throws SystemError.
  IoUring(std::span<const int> files, unsigned buffers);

  /// Waits for all operations in flight.
  ~IoUring() override;

  /// Pins memory for the kernel, so that operations on it need no more set-up.
  /// @return its number. Throws SystemError, MemlockError.
  unsigned register_buffer(std::span<std::byte> memory);

  /// @pre no operation on it is in flight.
  void unregister_buffer(unsigned number) noexcept;

  void submit(RingOperation& operation) noexcept override;

  /// Calls the handler whenever the descriptor is readable, from within run(), until unwatch().
  void watch(int fd, ReadableHandler& handler);
  /// The handler is not called any more once this returns.
  void unwatch(ReadableHandler& handler) noexcept;

  /// Hands what was submitted to the kernel, and calls the handlers of what has ended.
  /// @param wait for something to happen first, when nothing has.
  void run(bool wait);

  /// Operations that have not ended.
  std::size_t in_flight() const noexcept;
};

}  // namespace rdmablk::target
