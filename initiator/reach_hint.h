#pragma once

#include <string>

#include "common/cm/settings.h"
#include "common/socket_address.h"

namespace rdmablk::initiator {

/// What to look at when a target does not answer, as the end of a sentence.
/// @param peer as it was tried. @param method by which it was.
std::string network_hint(const SocketAddress& peer, cm::Method method = cm::Method::rdmacm);

/// That, and the command that tells more.
std::string reach_hint(const SocketAddress& peer, cm::Method method = cm::Method::rdmacm);

/// A message without what such a hint says of `rdmablk doctor`: for the doctor.
std::string without_doctor(std::string message);

}  // namespace rdmablk::initiator
