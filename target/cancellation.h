#pragma once

#include <atomic>

#include "common/error.h"

namespace rdmablk::target {

/// A word to work that takes long, on another thread, that nobody wants it any more. Any thread.
class Cancellation {
 public:
  void cancel() noexcept { cancelled_ = true; }
  bool is_cancelled() const noexcept { return cancelled_; }

  /// Throws Error when it is cancelled.
  void check() const {
    if (cancelled_) throw Error("the target is about to end");
  }

 private:
  std::atomic<bool> cancelled_ = false;
};

}  // namespace rdmablk::target
