#include "target/device_probe.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cerrno>
#include <memory>
#include <string>
#include <vector>

#include "common/cm/connection.h"
#include "common/error.h"
#include "common/verbs/context.h"
#include "common/verbs/device_list.h"
#include "target/device_selection.h"

namespace rdmablk::target {
namespace {

using Kind = Finding::Kind;

std::vector<SocketAddress> at_any_port(std::vector<SocketAddress> addresses) {
  for (SocketAddress& address : addresses) address.set_port(0);
  return addresses;
}

/// Whether its ports are free; the target that runs has them, most likely.
std::string try_ports(cm::ConnectionManager& manager, const Options& options,
                      const std::vector<SocketAddress>& addresses) {
  try {
    select_devices(manager, addresses, options.device);
    return "";
  } catch (const SystemError& error) {
    if (error.error() != EADDRINUSE) throw;
    return error.what();
  }
}

void look(const Options& options, const std::vector<SocketAddress>& addresses, Findings& findings) {
  const auto manager = cm::make_rdmacm();
  const auto devices = select_devices(*manager, at_any_port(addresses), options.device);
  std::vector<std::string> names;
  for (ibv_context* const device : devices) names.push_back(verbs::device_name(device));
  findings.add(Kind::fine, fmt::format("to be reached over {}", fmt::join(names, ", ")));
  const std::string busy = try_ports(*manager, options, addresses);
  if (busy.empty()) return;
  findings.add(Kind::note, busy + "; a target that runs has it, or another program");
}

}  // namespace

void probe_devices(const Options& options, Findings& findings) {
  std::vector<SocketAddress> addresses;
  for (const HostPort& place : options.listen) {
    findings.attempt([&] {
      const auto found = resolve(place);
      addresses.insert(addresses.end(), found.begin(), found.end());
      return fmt::format("to listen on {}", found.front().text());
    });
  }
  if (verbs::DeviceList().devices().empty()) {
    return findings.add(Kind::note,
                        "this host has no RDMA device, without which no target starts, and no "
                        "address can be looked at; `rdmablk devices` explains the ways to get one");
  }
  if (addresses.empty()) return;
  try {
    look(options, addresses, findings);
  } catch (const Error& error) {
    findings.add(Kind::problem, error.what());
  }
}

}  // namespace rdmablk::target
