#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/counted.h"
#include "common/units.h"
#include "initiator/doctor/checks.h"

namespace rdmablk::doctor {
namespace {

using cli::Gid;
using cli::RdmaDevice;
using cli::RdmaPort;

std::string port_name(const RdmaDevice& device, const RdmaPort& port) {
  return fmt::format("{}/{}", device.name, port.number);
}

/// The headers of RoCE that a packet carries beside its payload, and what may come on top.
constexpr unsigned kRoceHeaders = 128;

/// The largest MTU of InfiniBand and RoCE that a network interface's packets have room for.
unsigned mtu_within(unsigned netdev_mtu) {
  unsigned mtu = 4096;
  while (mtu > 256 && mtu + kRoceHeaders > netdev_mtu) mtu /= 2;
  return mtu;
}

Finding check_port(const RdmaDevice& device, const RdmaPort& port) {
  const std::string check = "port " + port_name(device, port);
  const std::string found = fmt::format("{}, {}", port.state, port.link_layer);
  if (port.state == "active") return good(check, found);
  const bool is_ethernet = port.link_layer == "Ethernet";
  return failure(check, found,
                 is_ethernet
                     ? "bring its network interface up (`ip link set NAME up`) and check the cable"
                     : "check the cable, and that a subnet manager (opensm) runs in the network");
}

/// The network interfaces that the port's addresses come from.
std::set<std::string> netdevs(const RdmaPort& port) {
  std::set<std::string> names;
  for (const Gid& gid : port.gids) {
    if (!gid.netdev.empty()) names.insert(gid.netdev);
  }
  return names;
}

/// MTU of the RDMA port against that of the interface below it.
void check_mtu(const Host& host, const RdmaDevice& device, const RdmaPort& port,
               Findings& findings) {
  if (port.link_layer != "Ethernet" || device.transport == "iWARP") return;
  const std::string check = "mtu " + port_name(device, port);
  for (const std::string& name : netdevs(port)) {
    const auto text = host.read(fmt::format("/sys/class/net/{}/mtu", name));
    const auto netdev_mtu = text ? parse_number(*text, UINT32_MAX) : std::nullopt;
    if (!netdev_mtu) continue;
    const auto mtu = static_cast<unsigned>(*netdev_mtu);
    const std::string found =
        fmt::format("{} of at most {} bytes; {} has {}", port.active_mtu, port.max_mtu, name, mtu);
    const unsigned possible = std::min(mtu_within(mtu), port.max_mtu);
    if (port.active_mtu < possible) {
      findings.push_back(warning(
          check, found,
          fmt::format("the interface has room for {}: take it down and up again", possible)));
    } else {
      findings.push_back(good(check, found));
    }
    return;
  }
  findings.push_back(skipped(
      check, fmt::format("{} bytes; no network interface is known for it", port.active_mtu)));
}

Finding check_gids(const RdmaDevice& device, const RdmaPort& port) {
  const std::string check = "gid " + port_name(device, port);
  if (port.gids.empty()) {
    return failure(check, "the port has no address (GID)",
                   "give its network interface an IP address (`ip address add`)");
  }
  const Gid& first = port.gids.front();
  if (port.link_layer != "Ethernet" || device.transport == "iWARP") {
    return good(check, fmt::format("{} ({})", first.text, first.type));
  }
  const auto v2 = std::find_if(port.gids.begin(), port.gids.end(),
                               [](const Gid& gid) { return gid.type == "RoCE v2"; });
  if (v2 != port.gids.end()) {
    return good(check, fmt::format("{} (RoCE v2, index {}), {} in all", v2->text, v2->index,
                                   port.gids.size()));
  }
  return warning(check, fmt::format("{} of them, none of RoCE v2", port.gids.size()),
                 "RoCE v1 is not routed: give the interface an IP address, and choose v2 in "
                 "/sys/kernel/config/rdma_cm");
}

Findings check_whole_port(const Host& host, const RdmaDevice& device, const RdmaPort& port) {
  Findings findings{check_port(device, port), check_gids(device, port)};
  check_mtu(host, device, port, findings);
  return findings;
}

bool works(const Findings& port) {
  return std::none_of(port.begin(), port.end(),
                      [](const Finding& finding) { return finding.verdict == Verdict::failure; });
}

/// A port that does not work is no failure where another one does: cards have two, and one cable.
void forgive(Findings& port) {
  for (Finding& finding : port) {
    if (finding.verdict == Verdict::failure) finding.verdict = Verdict::warning;
  }
}

Finding check_device(const RdmaDevice& device) {
  const std::string check = "device " + device.name;
  if (!device.error.empty()) {
    return failure(check, device.error,
                   "look at `dmesg`, and at the permissions of /dev/infiniband");
  }
  const std::string transport =
      device.ports.empty() ? device.transport : transport_of(device, device.ports.front());
  return good(check, fmt::format("{}, {}", transport, counted(device.ports.size(), "port")));
}

}  // namespace

void check_devices(const Host& host, Findings& findings) {
  if (host.devices.empty()) {
    findings.push_back(failure("device", "this host has no RDMA device",
                               "`rdmablk devices` explains the three ways to get one"));
    return;
  }
  std::vector<Findings> ports;
  for (const RdmaDevice& device : host.devices) {
    findings.push_back(check_device(device));
    for (const RdmaPort& port : device.ports) {
      ports.push_back(check_whole_port(host, device, port));
    }
  }
  const bool one_works = std::any_of(ports.begin(), ports.end(), works);
  for (Findings& port : ports) {
    if (one_works) forgive(port);
    findings.insert(findings.end(), port.begin(), port.end());
  }
}

}  // namespace rdmablk::doctor
