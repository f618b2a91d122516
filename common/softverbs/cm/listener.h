#pragma once

#include "common/softverbs/cm/id.h"

namespace softverbs::cm {

/// Starts to take connection requests on a bound id and turns each into CONNECT_REQUEST with a new
/// id. Needs the process's lock.
///
/// @param backlog how many requests may wait to be read from the channel; more are rejected. 0 and
///   anything over 1024, the kernel's default limit, mean 1024.
/// @return 0 or a negative errno value, as listen_on_port().
int start_listening(Id& listener, int backlog);

/// A request was read from the channel: there is room for another.
void request_was_read(Id& listener);

}  // namespace softverbs::cm
