#include "initiator/cli/list_command.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "common/error.h"
#include "initiator/cli/export_report.h"
#include "initiator/cli/session_watch.h"
#include "initiator/cli/time_limit.h"
#include "initiator/session.h"

namespace rdmablk::cli {

ListCommand::ListCommand(CLI::App& parent)
    : Command(parent, "list", "list the exports of a target") {
  arguments()
      .add_option("TARGET", target_, "HOST[:PORT] of the target; an IPv6 address in brackets")
      ->type_name("")
      ->required();
  add_timeout_option();
  add_json_option();
  add_credential_options();
  add_connection_options();
  add_log_level_option();
  arguments().footer(
      "Examples:\n"
      "  rdmablk list storage1\n"
      "  rdmablk list [2001:db8::1]:10900 --json");
}

int ListCommand::run() {
  const HostPort target = read_target(target_);
  const auto time = timeout();
  start_log();
  std::vector<protocol::ExportInfo> exports;
  {
    const TimeLimit limit(time, fmt::format("list the exports of {}", target.text()));
    exports = initiator::Session::connect(target, tool_options(time, connection(), credentials()))
                  ->list();
  }
  if (wants_json()) {
    print_json(export_list_json(target, exports));
  } else {
    fmt::print("{}", export_list_text(exports));
  }
  return kExitDone;
}

}  // namespace rdmablk::cli
