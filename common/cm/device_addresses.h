#pragma once

#include <infiniband/verbs.h>

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/cm/settings.h"
#include "common/socket_address.h"

namespace rdmablk::cm {

/// An address of this host that connections over a device can come from.
struct DeviceAddress {
  SocketAddress address;       ///< without a port
  unsigned prefix = 0;         ///< bits of it that its network has
  std::string interface_name;  ///< "eth0"
  std::string origin;          ///< what of the device has it: "GID 3 of port 1, RoCE v2"
};

/// The addresses of a device: on RoCE those of its GIDs that its network interface has, else those
/// of the network interface.
/// @param settings port and gid_index leave out others.
std::vector<DeviceAddress> addresses_of(ibv_context* device, const Settings& settings);

/// The one to reach a peer from: of its family, and on the same link for a link-local one; one of
/// the same network rather than another.
/// @return null when there is none.
const DeviceAddress* choose_source(std::span<const DeviceAddress> addresses,
                                   const SocketAddress& peer) noexcept;

/// Whether settings say where connections have to come from.
bool has_source(const Settings& settings) noexcept;

/// Where a connection to a peer has to come from, for it to go the way that the settings say.
/// @pre has_source(). Throws KnownError: ENODEV without the device, EADDRNOTAVAIL when it has no
/// such address; it says what there is.
SocketAddress source_address(std::span<ibv_context* const> devices, const Settings& settings,
                             const SocketAddress& peer);

/// The device of a name. Throws KnownError, which names those that there are.
ibv_context* find_device(std::span<ibv_context* const> devices, const std::string& name);

}  // namespace rdmablk::cm
