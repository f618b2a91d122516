#include "initiator/cli/session_commands.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <limits>

#include "common/error.h"
#include "common/option_values.h"
#include "initiator/cli/admin_report.h"

namespace rdmablk::cli {

SessionListCommand::SessionListCommand(CLI::App& parent)
    : AdminCommand(parent, "ls", "list the sessions: who has which export", kShort) {
  arguments().footer(
      "Examples:\n"
      "  rdmablk session ls\n"
      "  rdmablk session ls --json");
}

int SessionListCommand::run() {
  const Json reply = ask({{"request", "sessions"}}, "list the sessions");
  if (wants_json()) {
    print_json(document_of(reply, "sessions"));
  } else {
    fmt::print("{}", admin_sessions_text(reply.value("sessions", Json::array())));
  }
  return kExitDone;
}

SessionEvictCommand::SessionEvictCommand(CLI::App& parent)
    : AdminCommand(parent, "evict", "end a session", kShort) {
  arguments()
      .add_option("SESSION", session_, "its number, as `rdmablk session ls` shows it")
      ->type_name("")
      ->required();
  arguments()
      .add_option("--reason", reason_, "what its initiator is told, and its log says")
      ->type_name("TEXT");
  arguments().footer(
      "The initiator is told, and may come back: who shall not needs to be taken out of the "
      "target's\n"
      "keys (--auth) or the export's rules (allow).\n"
      "\n"
      "Examples:\n"
      "  rdmablk session evict 7 --reason 'this disk is being replaced'");
}

int SessionEvictCommand::run() {
  const auto session =
      read_number("SESSION", session_, 0, std::numeric_limits<std::uint32_t>::max());
  Json request{{"request", "session_evict"}, {"session", session}};
  if (!reason_.empty()) request["reason"] = reason_;
  return change(request, fmt::format("end session {}", session));
}

}  // namespace rdmablk::cli
