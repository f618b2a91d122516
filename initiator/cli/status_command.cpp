#include "initiator/cli/status_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/error.h"
#include "initiator/cli/admin_report.h"

namespace rdmablk::cli {

StatusCommand::StatusCommand(CLI::App& parent)
    : AdminCommand(parent, "status", "how the target on this machine is doing", kShort) {
  arguments().footer(
      "Examples:\n"
      "  rdmablk status\n"
      "  rdmablk status --json --socket /run/rdmablk/second.sock");
}

int StatusCommand::run() {
  const Json reply = ask({{"request", "status"}}, "show the target's status");
  if (wants_json()) {
    print_json(document_of(reply, "status"));
  } else {
    fmt::print("{}", target_status_text(reply.value("status", Json::object())));
  }
  return kExitDone;
}

}  // namespace rdmablk::cli
