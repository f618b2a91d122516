#pragma once

#include "common/softverbs/cm/id.h"

namespace softverbs::cm {

/// Ends the wait for the next event of a synchronous id, as every call does that leads to one.
/// Asynchronous ids: does nothing. Without the lock.
/// @return 0, or -1 with errno when the event says that the operation failed; the event is in
///   id.event either way.
int complete_synchronous_call(Id& id);

/// Acknowledges and frees an event. Without the lock.
void acknowledge(rdma_cm_event* event);

/// Acknowledges id.event, if any. Without the lock.
void acknowledge_current_event(Id& id);

/// Makes `id` synchronous with a channel of its own. Needs the lock. @throws std::system_error
void make_synchronous(Id& id);

}  // namespace softverbs::cm
