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
};

/// A read or write of all bytes: what comes back short is continued, what was interrupted
/// (-EINTR, -EAGAIN) is tried again.
class Transfer : private RingOperation {
 public:
  /// Starts. One at a time; ends with on_transferred().
  void start(Ring& ring, const TransferPlan& plan) noexcept;

 protected:
  Transfer() = default;
  ~Transfer() = default;

  /// All is done (0), or not (a positive errno value: EIO also for a read that meets the end of the
  /// file, ENOSPC for a write that stops making progress).
  virtual void on_transferred(int error) noexcept = 0;

 private:
  void on_result(int result) noexcept final;

  Ring* ring_ = nullptr;
};

}  // namespace rdmablk::target
