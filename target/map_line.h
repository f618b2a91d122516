#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "common/protocol/io_messages.h"

namespace rdmablk::target {

/// The MAPs of one I/O queue. Each blocks a thread that all queues share, so one at a time is
/// worked on, and the thread goes round the queues. No allocation after construction. One thread.
class MapLine {
 public:
  struct Waiting {
    unsigned slot = 0;
    protocol::IoRequest request;
  };

  /// @param slots that requests come for, each with one at a time.
  explicit MapLine(std::size_t slots) : waiting_(slots) {}

  /// A request comes. @return whether it is to be worked on now; otherwise it waits.
  bool enter(const Waiting& request) noexcept {
    if (!busy_) return busy_ = true;
    waiting_[(first_ + count_++) % waiting_.size()] = request;
    return false;
  }

  /// The one that was worked on has ended. @return the next, which is to be worked on now.
  std::optional<Waiting> leave() noexcept {
    auto next = drop();
    busy_ = next.has_value();
    return next;
  }

  /// Takes one out that waits, as it is not to be worked on any more.
  std::optional<Waiting> drop() noexcept {
    if (count_ == 0) return std::nullopt;
    --count_;
    return waiting_[first_++ % waiting_.size()];
  }

 private:
  std::vector<Waiting> waiting_;
  std::size_t first_ = 0;
  std::size_t count_ = 0;
  bool busy_ = false;
};

}  // namespace rdmablk::target
