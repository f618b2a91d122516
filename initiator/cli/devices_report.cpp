#include "initiator/cli/devices_report.h"

#include <fmt/format.h>

#include "initiator/cli/text_table.h"

namespace rdmablk::cli {
namespace {

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

/// A line for each port, or one for a device whose ports are not known.
TextTable port_table(std::span<const RdmaDevice> devices) {
  TextTable table({"DEVICE", "TRANSPORT", "NODE TYPE", "FIRMWARE", "PORT", "STATE", "LINK LAYER",
                   "MTU", "MAX MTU", "LID"});
  for (const RdmaDevice& device : devices) {
    for (const RdmaPort& port : device.ports) {
      table.add({device.name, device.transport, device.node_type, or_dash(device.firmware),
                 std::to_string(port.number), port.state, port.link_layer,
                 std::to_string(port.active_mtu), std::to_string(port.max_mtu),
                 port.lid == 0 ? "-" : std::to_string(port.lid)});
    }
    if (device.ports.empty()) {
      table.add({device.name, device.transport, device.node_type, or_dash(device.firmware), "-",
                 "-", "-", "-", "-", "-"});
    }
  }
  return table;
}

TextTable gid_table(std::span<const RdmaDevice> devices) {
  TextTable table({"DEVICE", "PORT", "GID INDEX", "TYPE", "NETDEV", "GID"});
  for (const RdmaDevice& device : devices) {
    for (const RdmaPort& port : device.ports) {
      for (const Gid& gid : port.gids) {
        table.add({device.name, std::to_string(port.number), std::to_string(gid.index), gid.type,
                   or_dash(gid.netdev), gid.text});
      }
    }
  }
  return table;
}

Json gid_json(const Gid& gid) {
  Json json{{"index", gid.index}, {"type", gid.type}, {"gid", gid.text}};
  if (!gid.netdev.empty()) json["netdev"] = gid.netdev;
  return json;
}

Json port_json(const RdmaPort& port) {
  Json json{{"port", port.number},
            {"state", port.state},
            {"link_layer", port.link_layer},
            {"active_mtu_bytes", port.active_mtu},
            {"max_mtu_bytes", port.max_mtu}};
  if (port.lid != 0) json["lid"] = port.lid;
  json["gids"] = Json::array();
  for (const Gid& gid : port.gids) json["gids"].push_back(gid_json(gid));
  return json;
}

Json device_json(const RdmaDevice& device) {
  Json json{{"name", device.name},
            {"transport", device.transport},
            {"node_type", device.node_type},
            {"firmware", device.firmware},
            {"node_guid", device.node_guid}};
  if (!device.error.empty()) json["error"] = device.error;
  json["ports"] = Json::array();
  for (const RdmaPort& port : device.ports) json["ports"].push_back(port_json(port));
  return json;
}

}  // namespace

std::string devices_text(std::span<const RdmaDevice> devices) {
  std::string text = port_table(devices).text() + '\n' + gid_table(devices).text();
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
