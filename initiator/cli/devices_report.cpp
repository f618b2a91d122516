#include "initiator/cli/devices_report.h"

#include <fmt/format.h>

#include <algorithm>

#include "initiator/cli/text_table.h"

namespace rdmablk::cli {
namespace {

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

std::string speed_text(double speed) {
  return speed == 0 ? "-" : fmt::format("{:g} Gbit/s", speed);
}

/// A line for each port, or one for a device whose ports are not known.
TextTable port_table(std::span<const RdmaDevice> devices) {
  TextTable table({"DEVICE", "TRANSPORT", "NODE TYPE", "FIRMWARE", "PORT", "STATE", "LINK LAYER",
                   "MTU", "MAX MTU", "SPEED", "LID"});
  for (const RdmaDevice& device : devices) {
    for (const RdmaPort& port : device.ports) {
      table.add({device.name, transport_of(device, port), device.node_type,
                 or_dash(device.firmware), std::to_string(port.number), port.state, port.link_layer,
                 std::to_string(port.active_mtu), std::to_string(port.max_mtu),
                 speed_text(port.speed), port.lid == 0 ? "-" : std::to_string(port.lid)});
    }
    if (device.ports.empty()) {
      table.add({device.name, device.transport, device.node_type, or_dash(device.firmware), "-",
                 "-", "-", "-", "-", "-", "-"});
    }
  }
  return table;
}

TextTable gid_table(std::span<const RdmaDevice> devices) {
  TextTable table({"DEVICE", "PORT", "GID INDEX", "TYPE", "NETDEV", "TAKEN FOR", "GID"});
  for (const RdmaDevice& device : devices) {
    for (const RdmaPort& port : device.ports) {
      for (const Gid& gid : port.gids) {
        table.add({device.name, std::to_string(port.number), std::to_string(gid.index), gid.type,
                   or_dash(gid.netdev), or_dash(gid.chosen_for), gid.text});
      }
    }
  }
  return table;
}

std::string count_text(unsigned count) {
  return count == 0 ? "-" : std::to_string(count);
}

TextTable limit_table(std::span<const RdmaDevice> devices) {
  TextTable table({"DEVICE", "LIMIT", "VALUE"});
  for (const RdmaDevice& device : devices) {
    if (!device.error.empty()) continue;
    const RdmaLimits& limits = device.limits;
    const auto add = [&](const std::string& name, const std::string& value) {
      table.add({device.name, name, value});
    };
    add("queue pairs (max_qp)", count_text(limits.max_qp));
    add("work requests of a queue (max_qp_wr)", count_text(limits.max_qp_wr));
    add("segments of a work request (max_sge)", count_text(limits.max_sge));
    add("completion queues (max_cq)", count_text(limits.max_cq));
    add("entries of a completion queue (max_cqe)", count_text(limits.max_cqe));
    add("memory regions (max_mr)", count_text(limits.max_mr));
    add("bytes of a memory region (max_mr_size)", std::to_string(limits.max_mr_bytes));
    add("READs of a peer at a time (max_qp_rd_atom)", count_text(limits.max_read_in));
    add("READs to a peer at a time (max_qp_init_rd_atom)", count_text(limits.max_read_out));
    add("bytes that go inline, as tried", std::to_string(limits.inline_bytes));
    for (const RdmaPort& port : device.ports) {
      add(fmt::format("bytes of a message on port {} (max_msg_sz)", port.number),
          std::to_string(port.max_message));
    }
    add("on-demand paging, of reliable connections", limits.has_odp ? or_dash(limits.odp) : "no");
    add("memory windows", limits.has_memory_windows ? "yes" : "no");
    add("NUMA node", device.numa_node ? std::to_string(*device.numa_node) : "-");
    add("node GUID", or_dash(device.node_guid));
  }
  return table;
}

/// Of InfiniBand's ports: the partitions that they are in.
TextTable pkey_table(std::span<const RdmaDevice> devices) {
  TextTable table({"DEVICE", "PORT", "P_KEY INDEX", "P_KEY", "MEMBER"});
  constexpr unsigned kFull = 0x8000;
  for (const RdmaDevice& device : devices) {
    for (const RdmaPort& port : device.ports) {
      for (std::size_t index = 0; index < port.pkeys.size(); ++index) {
        const unsigned key = port.pkeys[index];
        if (key == 0) continue;
        table.add({device.name, std::to_string(port.number), std::to_string(index),
                   fmt::format("{:#06x}", key), (key & kFull) != 0 ? "full" : "limited"});
      }
    }
  }
  return table;
}

bool has_pkeys(std::span<const RdmaDevice> devices) {
  return std::ranges::any_of(devices, [](const RdmaDevice& device) {
    return std::ranges::any_of(device.ports,
                               [](const RdmaPort& port) { return !port.pkeys.empty(); });
  });
}

Json gid_json(const Gid& gid) {
  Json json{{"index", gid.index}, {"type", gid.type}, {"gid", gid.text}};
  if (!gid.netdev.empty()) json["netdev"] = gid.netdev;
  if (!gid.chosen_for.empty()) json["taken_for"] = gid.chosen_for;
  return json;
}

Json port_json(const RdmaPort& port) {
  Json json{{"port", port.number},
            {"state", port.state},
            {"link_layer", port.link_layer},
            {"active_mtu_bytes", port.active_mtu},
            {"max_mtu_bytes", port.max_mtu}};
  if (port.lid != 0) json["lid"] = port.lid;
  if (port.speed != 0) json["speed_gbit_s"] = port.speed;
  json["max_message_bytes"] = port.max_message;
  if (!port.pkeys.empty()) json["pkeys"] = port.pkeys;
  json["gids"] = Json::array();
  for (const Gid& gid : port.gids) json["gids"].push_back(gid_json(gid));
  return json;
}

Json limits_json(const RdmaLimits& limits) {
  return {{"max_qp", limits.max_qp},
          {"max_qp_wr", limits.max_qp_wr},
          {"max_sge", limits.max_sge},
          {"max_cq", limits.max_cq},
          {"max_cqe", limits.max_cqe},
          {"max_mr", limits.max_mr},
          {"max_mr_size_bytes", limits.max_mr_bytes},
          {"max_qp_rd_atom", limits.max_read_in},
          {"max_qp_init_rd_atom", limits.max_read_out},
          {"inline_bytes", limits.inline_bytes},
          {"on_demand_paging", limits.has_odp},
          {"memory_windows", limits.has_memory_windows}};
}

Json device_json(const RdmaDevice& device) {
  Json json{{"name", device.name},
            {"transport", device.transport},
            {"node_type", device.node_type},
            {"firmware", device.firmware},
            {"node_guid", device.node_guid}};
  if (!device.error.empty()) {
    json["error"] = device.error;
  } else {
    json["limits"] = limits_json(device.limits);
  }
  json["numa_node"] = device.numa_node ? Json(*device.numa_node) : Json();
  json["ports"] = Json::array();
  for (const RdmaPort& port : device.ports) json["ports"].push_back(port_json(port));
  return json;
}

}  // namespace

std::string devices_text(std::span<const RdmaDevice> devices, bool verbose) {
  std::string text = port_table(devices).text() + '\n' + gid_table(devices).text();
  if (has_pkeys(devices)) text += '\n' + pkey_table(devices).text();
  if (verbose) text += '\n' + limit_table(devices).text();
  for (const RdmaDevice& device : devices) {
    if (!device.error.empty()) text += fmt::format("\n{}: {}\n", device.name, device.error);
  }
  return text;
}

Json devices_json(std::span<const RdmaDevice> devices) {
  Json document = new_document();
  document["devices"] = Json::array();
  for (const RdmaDevice& device : devices) document["devices"].push_back(device_json(device));
  return document;
}

}  // namespace rdmablk::cli
