#pragma once

#include <string>

#include "common/socket_address.h"

namespace rdmablk::initiator {

/// What to look at when a target does not answer, as the end of a sentence.
/// @param peer as it was tried.
std::string network_hint(const SocketAddress& peer);

/// That, and the command that tells more.
std::string reach_hint(const SocketAddress& peer);

/// A message without what such a hint says of `rdmablk doctor`: for the doctor.
std::string without_doctor(std::string message);

}  // namespace rdmablk::initiator
