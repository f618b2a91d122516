#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rdmablk::cli {

/// An address of a port: what RoCE puts into its packets (ibv_query_gid_ex(3)).
struct Gid {
  unsigned index = 0;
  std::string type;          ///< "RoCE v1", "RoCE v2", "InfiniBand", "iWARP"
  std::string text;          ///< as an IPv6 address
  std::string netdev;        ///< the network interface it comes from; empty when not known
  std::string chosen_for{};  ///< peers that --cm tcp takes it for: "IPv4", "IPv6", "link-local"
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
  double speed = 0;                    ///< gigabits per second, of all lanes; 0: not known
  std::vector<std::uint16_t> pkeys{};  ///< by index; empty at the end are left out
  std::uint32_t max_message = 0;       ///< bytes
};

/// What a device can do at most (ibv_query_device_ex(3)).
struct RdmaLimits {
  std::uint64_t max_mr_bytes = 0;  ///< of a memory region
  unsigned max_mr = 0;             ///< memory regions
  unsigned max_qp = 0;             ///< queue pairs
  unsigned max_qp_wr = 0;          ///< work requests of a queue
  unsigned max_sge = 0;            ///< segments of a work request
  unsigned max_cq = 0;             ///< completion queues
  unsigned max_cqe = 0;            ///< entries of one
  unsigned max_read_in = 0;        ///< READs of a peer at a time (max_qp_rd_atom)
  unsigned max_read_out = 0;       ///< READs of ours at a time (max_qp_init_rd_atom)
  unsigned inline_bytes = 0;       ///< that a queue pair takes inline, of those that were tried
  bool has_odp = false;            ///< on-demand paging
  std::string odp{};               ///< for reliable connections: "send, receive, read, write"
  bool has_memory_windows = false;
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
  RdmaLimits limits{};
  std::optional<int> numa_node{};  ///< nothing: the kernel knows of none
};

/// "InfiniBand", "RoCE" or "iWARP": what of the port goes over the cable.
std::string transport_of(const RdmaDevice& device, const RdmaPort& port);

/// Marks the GIDs of a port that `--cm tcp` connects from where neither the settings nor the peer's
/// network say more: for each family of peers one.
void mark_choices(std::vector<Gid>& gids);

/// Asks all devices of this host. One that cannot be opened is in the list too, with its error.
std::vector<RdmaDevice> query_rdma_devices();

}  // namespace rdmablk::cli
