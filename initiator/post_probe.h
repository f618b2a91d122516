#pragma once

#include "common/probes.h"
#include "initiator/request.h"

namespace rdmablk::initiator {

/// Keeps when a request is posted, and tells who watches. By the queue, as it posts its first
/// piece.
inline void note_post(Request& request, std::chrono::steady_clock::time_point now) noexcept {
  request.progress.posted_at = now;
  RDMABLK_PROBE(post, probe_id(request), static_cast<unsigned>(request.operation), request.offset,
                request.length);
}

}  // namespace rdmablk::initiator
