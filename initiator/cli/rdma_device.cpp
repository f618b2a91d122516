#include "initiator/cli/rdma_device.h"

#include <arpa/inet.h>
#include <endian.h>
#include <fmt/format.h>
#include <infiniband/verbs.h>
#include <net/if.h>

#include <algorithm>
#include <array>

#include "common/error.h"
#include "common/numa.h"
#include "common/verbs/completion_queue.h"
#include "common/verbs/context.h"
#include "common/verbs/device_list.h"
#include "common/verbs/gid_table.h"
#include "common/verbs/protection_domain.h"
#include "common/verbs/queue_pair.h"

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
  return is_iwarp ? "iWARP" : verbs::gid_type_name(type);
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

/// Gigabits per second of a lane, as InfiniBand counts them (ibv_query_port(3)).
double lane_speed(unsigned code) {
  switch (code) {
    case 1:
      return 2.5;
    case 2:
      return 5;
    case 4:
    case 8:
      return 10;
    case 16:
      return 14;
    case 32:
      return 25;
    case 64:
      return 50;
    case 128:
      return 100;
    default:
      return 0;
  }
}

unsigned lanes(unsigned code) {
  switch (code) {
    case 1:
      return 1;
    case 2:
      return 4;
    case 4:
      return 8;
    case 8:
      return 12;
    case 16:
      return 2;
    default:
      return 0;
  }
}

std::vector<std::uint16_t> query_pkeys(ibv_context* context, std::uint8_t port, int count) {
  std::vector<std::uint16_t> keys;
  for (int index = 0; index < count; ++index) {
    __be16 key = 0;
    keys.push_back(ibv_query_pkey(context, port, index, &key) == 0 ? be16toh(key) : 0);
  }
  while (!keys.empty() && keys.back() == 0) keys.pop_back();
  return keys;
}

/// No device says how much it takes inline; so queue pairs are made. Of the sizes that are of use
/// here, the largest that it takes.
unsigned query_inline_bytes(ibv_context* context) try {
  const verbs::ProtectionDomain domain(context);
  const verbs::CompletionQueue completions(context, 2, nullptr);
  for (const unsigned bytes : {1024U, 512U, 256U, 128U, 64U}) {
    verbs::QueuePairOptions options;
    options.inline_bytes = bytes;
    // One that does not take them is made without.
    const auto taken = verbs::make_queue_pair(domain, completions, options).inline_bytes();
    if (taken > 0) return taken;
  }
  return 0;
} catch (const Error&) {
  return 0;
}

std::string odp_text(std::uint32_t caps) {
  std::string text;
  const auto add = [&](std::uint32_t bit, const char* name) {
    if ((caps & bit) != 0) text += (text.empty() ? "" : ", ") + std::string(name);
  };
  add(IBV_ODP_SUPPORT_SEND, "send");
  add(IBV_ODP_SUPPORT_RECV, "receive");
  add(IBV_ODP_SUPPORT_READ, "read");
  add(IBV_ODP_SUPPORT_WRITE, "write");
  return text;
}

RdmaLimits query_limits(ibv_context* context, const ibv_device_attr& attributes) {
  constexpr unsigned kMemoryWindows =
      IBV_DEVICE_MEM_WINDOW | IBV_DEVICE_MEM_WINDOW_TYPE_2A | IBV_DEVICE_MEM_WINDOW_TYPE_2B;
  const auto number = [](int value) { return static_cast<unsigned>(std::max(value, 0)); };
  RdmaLimits limits;
  limits.max_mr_bytes = attributes.max_mr_size;
  limits.max_mr = number(attributes.max_mr);
  limits.max_qp = number(attributes.max_qp);
  limits.max_qp_wr = number(attributes.max_qp_wr);
  limits.max_sge = number(attributes.max_sge);
  limits.max_cq = number(attributes.max_cq);
  limits.max_cqe = number(attributes.max_cqe);
  limits.max_read_in = number(attributes.max_qp_rd_atom);
  limits.max_read_out = number(attributes.max_qp_init_rd_atom);
  limits.inline_bytes = query_inline_bytes(context);
  limits.has_memory_windows =
      number(attributes.max_mw) > 0 || (attributes.device_cap_flags & kMemoryWindows) != 0;
  ibv_device_attr_ex extended{};
  if (ibv_query_device_ex(context, nullptr, &extended) == 0) {
    limits.has_odp = (extended.odp_caps.general_caps & IBV_ODP_SUPPORT) != 0;
    if (limits.has_odp) limits.odp = odp_text(extended.odp_caps.per_transport_caps.rc_odp_caps);
  }
  return limits;
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
  mark_choices(port.gids);
  port.speed = lane_speed(attributes.active_speed) * lanes(attributes.active_width);
  if (attributes.link_layer == IBV_LINK_LAYER_INFINIBAND) {
    port.pkeys = query_pkeys(context, number, attributes.pkey_tbl_len);
  }
  port.max_message = attributes.max_msg_sz;
  return port;
}

void query(ibv_device* raw, RdmaDevice& device) {
  const verbs::Context context(raw);
  const ibv_device_attr attributes = verbs::query_device(context.get());
  device.firmware = attributes.fw_ver;
  device.node_guid = guid_text(attributes.node_guid);
  device.limits = query_limits(context.get(), attributes);
  for (unsigned port = 1; port <= attributes.phys_port_cnt; ++port) {
    device.ports.push_back(query_port(context.get(), static_cast<std::uint8_t>(port)));
  }
}

}  // namespace

std::string transport_of(const RdmaDevice& device, const RdmaPort& port) {
  const bool is_roce = device.transport == "InfiniBand" && port.link_layer == "Ethernet";
  return is_roce ? "RoCE" : device.transport;
}

/// As choose_place() of the connections by TCP does when nothing else decides: RoCE v2 rather than
/// v1, then the peer's family, then the first.
void mark_choices(std::vector<Gid>& gids) {
  struct Family {
    const char* name;
    bool (*has)(const std::string& address);
  };
  const auto is_ipv4 = [](const std::string& text) { return text.starts_with("::ffff:"); };
  const auto is_link_local = [](const std::string& text) { return text.starts_with("fe80:"); };
  const auto is_global = [](const std::string& text) {
    return !text.starts_with("::ffff:") && !text.starts_with("fe80:");
  };
  for (const Family& family :
       {Family{"IPv4", is_ipv4}, Family{"IPv6", is_global}, Family{"link-local", is_link_local}}) {
    for (const char* const type : {"RoCE v2", "RoCE v1"}) {
      const auto of_type = std::ranges::find(gids, type, &Gid::type);
      if (of_type == gids.end()) continue;
      const auto found = std::ranges::find_if(
          gids, [&](const Gid& gid) { return gid.type == type && family.has(gid.text); });
      if (found != gids.end()) found->chosen_for = family.name;
      break;
    }
  }
}

std::vector<RdmaDevice> query_rdma_devices() {
  std::vector<RdmaDevice> devices;
  const verbs::DeviceList list;
  for (ibv_device* raw : list.devices()) {
    RdmaDevice& device = devices.emplace_back();
    device.name = ibv_get_device_name(raw);
    device.node_type = node_type_name(raw->node_type);
    device.transport = transport_name(raw->transport_type);
    device.numa_node = device_numa_node(device.name);
    try {
      query(raw, device);
    } catch (const Error& error) {
      device.error = error.what();
    }
  }
  return devices;
}

}  // namespace rdmablk::cli
