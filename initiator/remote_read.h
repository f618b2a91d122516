#pragma once

#include <cstdint>
#include <span>

#include "common/verbs/completion_channel.h"
#include "common/verbs/completion_queue.h"
#include "common/verbs/queue_pair.h"
#include "initiator/control_loop.h"

namespace rdmablk::initiator {

/// The parts of a queue that nobody uses yet.
struct IdleQueue {
  verbs::QueuePair& qp;
  verbs::CompletionQueue& cq;
  verbs::CompletionChannel& events;
};

/// A place in the target's memory.
struct RemotePlace {
  std::uint64_t address;
  std::uint32_t rkey;
};

/// READs from the target's memory and waits for it, driving the control loop: for setting up.
/// Throws Error when it fails or the deadline comes first.
void read_remote(ControlLoop& loop, const IdleQueue& queue, std::span<std::byte> into,
                 std::uint32_t lkey, const RemotePlace& from,
                 ControlLoop::Clock::time_point deadline);

}  // namespace rdmablk::initiator
