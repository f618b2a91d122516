#pragma once

#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/cm/connection.h"
#include "common/socket_address.h"
#include "target/options.h"

namespace rdmablk::target {

using Listeners = std::vector<std::unique_ptr<cm::Listener>>;

/// The addresses that a target is to listen on, by the method that those use who come there.
using ListenAddresses = std::map<cm::Method, std::vector<SocketAddress>>;

/// Looks them up. Throws Error.
ListenAddresses resolve_all(const std::vector<ListenPlace>& places);

/// The methods of some places.
std::set<cm::Method> methods_of(const std::vector<ListenPlace>& places);

/// Listens on all of some addresses that this host has; when the port is to be chosen, on the first
/// of each method alone. Throws Error when a port is taken, or when this host has none of the
/// addresses of a method.
/// @param managers one for each method. @param handler outlives the listeners.
Listeners listen_on(const cm::Managers& managers, const ListenAddresses& addresses,
                    cm::RequestHandler& handler);

/// The devices that a target has to register its exports with: one that was asked for, or those
/// that the addresses belong to, or all. Finds out by listening for a moment, which also tells
/// early whether that is possible at all.
/// @param wanted the name of the device that was asked for; empty: none was. Throws Error.
std::vector<ibv_context*> select_devices(const cm::Managers& managers,
                                         const ListenAddresses& addresses,
                                         const std::string& wanted);

}  // namespace rdmablk::target
