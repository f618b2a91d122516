#include "initiator/cli/rdma_device.h"

#include <arpa/inet.h>
#include <endian.h>
#include <fmt/format.h>
#include <infiniband/verbs.h>
#include <net/if.h>

#include <array>

#include "common/error.h"
#include "common/verbs/context.h"
#include "common/verbs/device_list.h"

namespace rdmablk::cli {
namespace {

const char* node_type_name(ibv_node_type type) {
  switch (type) {
    case IBV_NODE_CA:
      return "channel adapter";
    case IBV_NODE_SWITCH:
      return "switch";
    case IBV_NODE_ROUTER:
      return "router";
    case IBV_NODE_RNIC:
      return "RNIC";
    case IBV_NODE_USNIC:
      return "usNIC";
    case IBV_NODE_USNIC_UDP:
      return "usNIC UDP";
    default:
      return "unknown";
  }
}

const char* transport_name(ibv_transport_type type) {
  switch (type) {
    case IBV_TRANSPORT_IB:
      return "InfiniBand";
    case IBV_TRANSPORT_IWARP:
      return "iWARP";
    case IBV_TRANSPORT_USNIC:
      return "usNIC";
    case IBV_TRANSPORT_USNIC_UDP:
      return "usNIC UDP";
    default:
      return "unknown";
  }
}

const char* state_name(ibv_port_state state) {
  switch (state) {
    case IBV_PORT_DOWN:
      return "down";
    case IBV_PORT_INIT:
      return "initializing";
    case IBV_PORT_ARMED:
      return "armed";
    case IBV_PORT_ACTIVE:
      return "active";
    case IBV_PORT_ACTIVE_DEFER:
      return "active, deferred";
    default:
      return "unknown";
  }
}

const char* link_layer_name(std::uint8_t layer) {
  switch (layer) {
    case IBV_LINK_LAYER_ETHERNET:
      return "Ethernet";
    case IBV_LINK_LAYER_INFINIBAND:
      return "InfiniBand";
    default:
      return "unknown";
  }
}

const char* gid_type_name(std::uint32_t type, bool is_iwarp) {
  if (is_iwarp) return "iWARP";
  switch (type) {
    case IBV_GID_TYPE_ROCE_V1:
      return "RoCE v1";
    case IBV_GID_TYPE_ROCE_V2:
      return "RoCE v2";
    default:
      return "InfiniBand";
  }
}

/// The bytes that an ibv_mtu stands for.
unsigned mtu_bytes(ibv_mtu mtu) {
  return mtu < IBV_MTU_256 ? 0 : 128U << static_cast<unsigned>(mtu);
}

std::string netdev_name(std::uint32_t index) {
  std::array<char, IF_NAMESIZE> name{};
  return index != 0 && if_indextoname(index, name.data()) != nullptr ? name.data() : "";
}

std::string guid_text(std::uint64_t big_endian) {
  const std::uint64_t guid = be64toh(big_endian);
  return fmt::format("{:04x}:{:04x}:{:04x}:{:04x}", guid >> 48U, (guid >> 32U) & 0xffffU,
                     (guid >> 16U) & 0xffffU, guid & 0xffffU);
}

std::vector<Gid> query_gids(ibv_context* context, std::uint8_t port, int count) {
  std::vector<Gid> gids;
  for (std::uint32_t index = 0; index < static_cast<std::uint32_t>(count); ++index) {
    ibv_gid_entry entry{};
    if (ibv_query_gid_ex(context, port, index, &entry, 0) != 0) continue;  // an empty entry
    std::array<char, INET6_ADDRSTRLEN> text{};
    inet_ntop(AF_INET6, entry.gid.raw, text.data(), text.size());
    gids.push_back({index, gid_type_name(entry.gid_type, verbs::is_iwarp(context)), text.data(),
                    netdev_name(entry.ndev_ifindex)});
  }
  return gids;
}

RdmaPort query_port(ibv_context* context, std::uint8_t number) {
  ibv_port_attr attributes{};
  if (const int error = ibv_query_port(context, number, &attributes)) {
    throw SystemError(fmt::format("query port {}", number), error);
  }
  RdmaPort port;
  port.number = number;
  port.state = state_name(attributes.state);
  port.link_layer = link_layer_name(attributes.link_layer);
  port.active_mtu = mtu_bytes(attributes.active_mtu);
  port.max_mtu = mtu_bytes(attributes.max_mtu);
  port.lid = attributes.link_layer == IBV_LINK_LAYER_ETHERNET ? 0 : attributes.lid;
  port.gids = query_gids(context, number, attributes.gid_tbl_len);
  return port;
}

void query(ibv_device* raw, RdmaDevice& device) {
  const verbs::Context context(raw);
  const ibv_device_attr attributes = verbs::query_device(context.get());
  device.firmware = attributes.fw_ver;
  device.node_guid = guid_text(attributes.node_guid);
  for (unsigned port = 1; port <= attributes.phys_port_cnt; ++port) {
    device.ports.push_back(query_port(context.get(), static_cast<std::uint8_t>(port)));
  }
}

}  // namespace

std::vector<RdmaDevice> query_rdma_devices() {
  std::vector<RdmaDevice> devices;
  const verbs::DeviceList list;
  for (ibv_device* raw : list.devices()) {
    RdmaDevice& device = devices.emplace_back();
    device.name = ibv_get_device_name(raw);
    device.node_type = node_type_name(raw->node_type);
    device.transport = transport_name(raw->transport_type);
    try {
      query(raw, device);
    } catch (const Error& error) {
      device.error = error.what();
    }
  }
  return devices;
}

}  // namespace rdmablk::cli
