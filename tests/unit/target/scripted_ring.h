#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "target/ring.h"

namespace rdmablk::target {

/// A ring without a kernel: the test says how operations end, the oldest first.
class ScriptedRing final : public Ring {
 public:
  /// An operation as it was when submitted.
  struct Entry {
    RingOperation::Kind kind;
    bool durable;
    unsigned file;
    unsigned buffer;
    std::byte* data;
    std::uint64_t length;
    std::uint64_t offset;
  };

  void submit(RingOperation& operation) noexcept override {
    entries_.push_back({operation.kind, operation.durable, operation.file, operation.buffer,
                        operation.data, operation.length, operation.offset});
    pending_.push_back(&operation);
  }

  std::size_t in_flight() const { return pending_.size(); }
  /// All that was ever submitted.
  const std::vector<Entry>& entries() const { return entries_; }

  void end_with(int result) {
    RingOperation& operation = *pending_.front();
    pending_.pop_front();
    operation.on_result(result);
  }

 private:
  std::vector<Entry> entries_;
  std::deque<RingOperation*> pending_;
};

}  // namespace rdmablk::target
