#pragma once

#include "initiator/queue.h"

namespace rdmablk::initiator {

/// Submits a request to a queue that has no other, and waits for its end, which a lost connection
/// is, too, once that is not to come back. For who does one thing at a time.
void perform(Queue& queue, Request& request) noexcept;

}  // namespace rdmablk::initiator
