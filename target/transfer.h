#pragma once

#include <cstddef>
#include <cstdint>

#include "target/ring.h"

namespace rdmablk::target {

/// Where a transfer goes, and how.
struct TransferPlan {
  RingOperation::Kind kind = RingOperation::Kind::read;  ///< read or write
  bool durable = false;
  unsigned file = 0;
  unsigned buffer = RingOperation::kNoBuffer;
  std::byte* data = nullptr;
  std::uint64_t length = 0;
  std::uint64_t offset = 0;
  std::uint64_t alignment = 1;  ///< bytes; of where an operation may begin: the block of direct I/O
};

/// A read or write of all bytes: what comes back short is continued at the last aligned place, what
/// was interrupted (-EINTR, -EAGAIN) is tried again, a thousand times without progress at most.
class Transfer : private RingOperation {
 public:
  /// Starts. One at a time; ends with on_transferred().
  void start(Ring& ring, const TransferPlan& plan) noexcept;

 protected:
  Transfer() = default;
  ~Transfer() = default;

  /// All is done (0), or not (a positive errno value: EIO also for a read that meets the end of the
  /// file, for what was cancelled, and for what makes no progress; ENOSPC for a write of nothing).
  /// May start the next transfer.
  virtual void on_transferred(int error) noexcept = 0;

 private:
  void on_result(int result) noexcept final;
  void try_again() noexcept;
  void advance(std::uint64_t count) noexcept;

  Ring* ring_ = nullptr;
  std::uint64_t alignment_ = 1;
  unsigned attempts_ = 0;  ///< without progress
};

}  // namespace rdmablk::target
