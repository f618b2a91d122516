#pragma once

#include <string>

#include "common/socket_address.h"

namespace rdmablk::initiator {

/// What to look at when a target does not answer, as the end of a sentence.
/// @param peer as it was tried.
std::string network_hint(const SocketAddress& peer);

/// That, and the command that tells more.
std::string reach_hint(const SocketAddress& peer);

}  // namespace rdmablk::initiator
