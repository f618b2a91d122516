#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace rdmablk::cli {

/// An address of a port: what RoCE puts into its packets (ibv_query_gid_ex(3)).
struct Gid {
  unsigned index = 0;
  std::string type;    ///< "RoCE v1", "RoCE v2", "InfiniBand", "iWARP"
  std::string text;    ///< as an IPv6 address
  std::string netdev;  ///< the network interface it comes from; empty when not known
};

/// A port of a device (ibv_query_port(3)).
struct RdmaPort {
  unsigned number = 0;
  std::string state;        ///< "active", "down", ...
  std::string link_layer;   ///< "Ethernet", "InfiniBand"
  unsigned active_mtu = 0;  ///< bytes
  unsigned max_mtu = 0;     ///< bytes
  unsigned lid = 0;         ///< 0: it has none (RoCE, iWARP)
  std::vector<Gid> gids;
};

/// An RDMA device of this host (ibv_query_device(3)).
struct RdmaDevice {
  std::string name;
  std::string node_type;  ///< "channel adapter", "RNIC", ...
  std::string transport;  ///< "InfiniBand", "iWARP", ...
  std::string firmware;   ///< empty: it tells of none
  std::string node_guid;  ///< four groups of four hexadecimal digits
  std::vector<RdmaPort> ports;
  std::string error;  ///< why the device could not be asked; empty when it was
};

/// Asks all devices of this host. One that cannot be opened is in the list too, with its error.
std::vector<RdmaDevice> query_rdma_devices();

}  // namespace rdmablk::cli
