#pragma once

#include <infiniband/verbs.h>

#include <algorithm>

namespace rdmablk::verbs {

/// Work requests that a request may have outstanding on its queue pair.
struct WorkOfRequest {
  unsigned sends = 1;
  unsigned receives = 0;
};

/// How many requests a queue can have under way, as far as a device's queue pairs and completion
/// queues hold them; at least one.
/// @pre a request takes at least one send work request.
inline unsigned depth_limit(const ibv_device_attr& limits, WorkOfRequest work) noexcept {
  const auto room = [](int limit, unsigned each) {
    return static_cast<unsigned>(std::max(limit, 0)) / each;
  };
  const unsigned in_queue = room(limits.max_qp_wr, std::max(work.sends, work.receives));
  const unsigned in_completions = room(limits.max_cqe, work.sends + work.receives);
  return std::max(1U, std::min(in_queue, in_completions));
}

}  // namespace rdmablk::verbs
