#include "initiator/cli/devices_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/error.h"
#include "common/verbs/device_list.h"
#include "initiator/cli/devices_report.h"

namespace rdmablk::cli {

DevicesCommand::DevicesCommand(CLI::App& parent)
    : Command(parent, "devices", "list the RDMA devices of this host") {
  arguments().add_flag("--verbose", verbose_, "show the limits of each device, too");
  add_json_option();
  arguments().footer(
      "Shows each device's ports and their addresses (GIDs), by their index for --gid-index. TAKEN "
      "FOR\n"
      "says for which peers `--cm tcp` takes one, where nothing else decides. Without any device "
      "it "
      "says\n"
      "how to get one and ends with exit status 1.\n"
      "\n"
      "Examples:\n"
      "  rdmablk devices\n"
      "  rdmablk devices --verbose\n"
      "  rdmablk devices --json | jq -r '.devices[].name'");
}

int DevicesCommand::run() {
  const auto devices = query_rdma_devices();
  if (wants_json()) print_json(devices_json(devices));
  if (devices.empty()) {
    throw Error(fmt::format("this host has no RDMA device\n{}", verbs::how_to_get_a_device()));
  }
  if (!wants_json()) fmt::print("{}", devices_text(devices, verbose_));
  return kExitDone;
}

}  // namespace rdmablk::cli
