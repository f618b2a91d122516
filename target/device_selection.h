#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "common/cm/connection.h"
#include "common/socket_address.h"
#include "target/options.h"

namespace rdmablk::target {

using Listeners = std::vector<std::unique_ptr<cm::Listener>>;

/// Addresses of which a target is to listen on all that this host has, and on one at least, and how
/// those connect who come there.
struct ListenGroup {
  cm::Method method = cm::Method::rdmacm;
  std::vector<SocketAddress> addresses;
};
using ListenAddresses = std::vector<ListenGroup>;

/// Adds the addresses of a place. Throws Error.
/// @return the first of them.
SocketAddress add_place(ListenAddresses& addresses, const ListenPlace& place);

/// Looks them up. Throws Error.
ListenAddresses resolve_all(const std::vector<ListenPlace>& places);

/// The methods of some places.
std::set<cm::Method> methods_of(const std::vector<ListenPlace>& places);

/// Listens on all of some addresses that this host has; when the port is to be chosen, on the first
/// of each group alone. Throws Error when a port is taken, or when this host has none of the
/// addresses of a group.
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
