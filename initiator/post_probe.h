#pragma once

#include <chrono>

#include "common/probes.h"
#include "initiator/request.h"

namespace rdmablk::initiator {

/// The time of what is posted in one go: asked for once, and only if it is wanted.
class PostTime {
 public:
  using Clock = std::chrono::steady_clock;

  Clock::time_point get() noexcept {
    if (time_ == Clock::time_point{}) time_ = Clock::now();
    return time_;
  }

 private:
  Clock::time_point time_{};
};

/// Keeps when a timed request is posted, and tells who watches. By the queue, as it posts its first
/// piece.
inline void note_post(Request& request, PostTime& time) noexcept {
  if (request.is_timed) request.progress.posted_at = time.get();
  RDMABLK_PROBE(post, probe_id(request), static_cast<unsigned>(request.operation), request.offset,
                request.length);
}

}  // namespace rdmablk::initiator
