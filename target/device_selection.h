#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/cm/connection.h"
#include "common/socket_address.h"

namespace rdmablk::target {

using Listeners = std::vector<std::unique_ptr<cm::Listener>>;

/// Listens on all of some addresses that this host has; when the port is to be chosen, on the first
/// alone. Throws Error when a port is taken, or when this host has none of the addresses.
/// @param handler outlives the listeners.
Listeners listen_on(cm::ConnectionManager& manager, const std::vector<SocketAddress>& addresses,
                    cm::RequestHandler& handler);

/// The devices that a target has to register its exports with: one that was asked for, or those
/// that the addresses belong to, or all. Finds out by listening for a moment, which also tells
/// early whether that is possible at all.
/// @param wanted the name of the device that was asked for. Throws Error.
std::vector<ibv_context*> select_devices(cm::ConnectionManager& manager,
                                         const std::vector<SocketAddress>& addresses,
                                         const std::optional<std::string>& wanted);

}  // namespace rdmablk::target
