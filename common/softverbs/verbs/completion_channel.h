#pragma once

#include <infiniband/verbs.h>

#include <atomic>

#include "common/softverbs/verbs/event_queue.h"

namespace softverbs {

class CompletionQueue;

/// What `ibv_create_comp_channel` hands out: completion events of the queues attached to it.
struct CompletionChannel : ibv_comp_channel {
  EventQueue<CompletionQueue*> events;
  std::atomic<int> users{0};  ///< Completion queues attached to it.

  static CompletionChannel* from(ibv_comp_channel* channel) {
    return static_cast<CompletionChannel*>(channel);
  }
};

}  // namespace softverbs
