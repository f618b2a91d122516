#pragma once

#include <chrono>
#include <string>

#include "initiator/queue.h"

namespace rdmablk::fuse {

/// The flush with which a worker ends: what was written and never flushed shall be kept, too. Used
/// by the worker's thread.
class LastFlush {
 public:
  /// How long it is waited for, and after how long that is said.
  static constexpr std::chrono::seconds kTime{30};
  static constexpr std::chrono::seconds kLong{2};

  void submit(initiator::Queue& queue) noexcept;

  /// @param request that the queue has ended. @return whether that is this one.
  bool takes(const initiator::Request& request) noexcept;

  bool has_ended() const noexcept { return has_ended_; }

  /// Whether it has done what it is for.
  bool has_succeeded() const noexcept { return has_ended_ && request_.error == 0; }

  /// Why it has not, for people. @param connected whether it could have.
  std::string problem(bool connected) const;

 private:
  initiator::Request request_;
  bool has_ended_ = false;
};

}  // namespace rdmablk::fuse
