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

ListenAddresses at_any_port(ListenAddresses addresses) {
  for (ListenGroup& group : addresses) {
    for (SocketAddress& address : group.addresses) address.set_port(0);
  }
  return addresses;
}

/// Whether its ports are free; the target that runs has them, most likely.
std::string try_ports(const cm::Managers& managers, const Options& options,
                      const ListenAddresses& addresses) {
  try {
    select_devices(managers, addresses, options.connections.device);
    return "";
  } catch (const SystemError& error) {
    if (error.error() != EADDRINUSE) throw;
    return error.what();
  }
}

void look(const Options& options, const ListenAddresses& addresses, Findings& findings) {
  asio::io_context io;
  const auto managers = cm::make_managers(methods_of(options.listen), io, options.connections);
  const auto devices = select_devices(managers, at_any_port(addresses), options.connections.device);
  std::vector<std::string> names;
  for (ibv_context* const device : devices) names.push_back(verbs::device_name(device));
  findings.add(Kind::fine, fmt::format("to be reached over {}", fmt::join(names, ", ")));
  const std::string busy = try_ports(managers, options, addresses);
  if (busy.empty()) return;
  findings.add(Kind::note, busy + "; a target that runs has it, or another program");
}

}  // namespace

void probe_devices(const Options& options, Findings& findings) {
  ListenAddresses addresses;
  for (const ListenPlace& place : options.listen) {
    findings.attempt(
        [&] { return fmt::format("to listen on {}", add_place(addresses, place).text()); });
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
