#pragma once

#include <optional>
#include <string>

#include "common/protocol/messages.h"

namespace rdmablk::initiator {

/// Compares what an export was when it was attached first with what it is now that it was attached
/// again.
/// @return why it cannot be the same one, for people; nothing when it can.
std::optional<std::string> difference(const protocol::AttachReply& before,
                                      const protocol::AttachReply& now);

}  // namespace rdmablk::initiator
