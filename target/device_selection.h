#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/cm/connection.h"
#include "common/socket_address.h"

namespace rdmablk::target {

/// Listens on the first of some addresses that works. Throws the error of the last otherwise.
/// @param handler outlives the listener.
std::unique_ptr<cm::Listener> listen_on_first(cm::ConnectionManager& manager,
                                              const std::vector<SocketAddress>& addresses,
                                              cm::RequestHandler& handler);

/// The devices that a target has to register its exports with: one that was asked for, or the one
/// that the address belongs to, or all. Finds out by listening for a moment, which also tells early
/// whether that is possible at all.
/// @param wanted the name of the device that was asked for. Throws Error.
std::vector<ibv_context*> select_devices(cm::ConnectionManager& manager,
                                         const std::vector<SocketAddress>& addresses,
                                         const std::optional<std::string>& wanted);

}  // namespace rdmablk::target
