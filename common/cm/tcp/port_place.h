#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/cm/settings.h"
#include "common/cm/tcp/exchange.h"
#include "common/socket_address.h"

namespace rdmablk::cm::tcp {

/// A port of a device, and the address in its table of GIDs that a connection goes from.
struct PortPlace {
  ibv_context* device = nullptr;
  std::uint8_t port = 1;
  std::uint8_t gid_index = 0;
  std::uint8_t gid_type = IBV_GID_TYPE_IB;  ///< an ibv_gid_type
  ibv_gid gid{};
  std::uint16_t lid = 0;
  std::uint8_t link_layer = IBV_LINK_LAYER_ETHERNET;
  ibv_mtu mtu = IBV_MTU_256;  ///< that is in use, or the one that is asked for if it is less

  /// What of an Endpoint the port tells.
  Endpoint endpoint() const noexcept;
};

/// Places to choose from.
struct PortPlaces {
  std::vector<PortPlace> places;
  std::string others;     ///< what speaks against ports that are not among them, for people
  bool may_come = false;  ///< that can change: a port is down, or has no address yet
};

/// The places that connections can go from, as far as the settings allow: of ports that are up.
/// iWARP's devices have none: only rdma_cm connects them.
PortPlaces find_places(std::span<ibv_context* const> devices, const Settings& settings);

/// The device that has an address in a table of GIDs; null: none, or it is a wildcard.
ibv_context* device_with(std::span<ibv_context* const> devices, const SocketAddress& address);

}  // namespace rdmablk::cm::tcp
