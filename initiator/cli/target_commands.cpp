#include "initiator/cli/target_commands.h"

#include <CLI/CLI.hpp>

#include "initiator/cli/export_commands.h"
#include "initiator/cli/reload_command.h"
#include "initiator/cli/session_commands.h"
#include "initiator/cli/status_command.h"
#include "initiator/cli/top_command.h"

namespace rdmablk::cli {

CLI::App& add_family(CLI::App& program, const char* name, const char* description,
                     const char* footer) {
  CLI::App& family = *program.add_subcommand(name, description);
  add_version_option(family);
  family.require_subcommand(1);
  family.footer(footer);
  return family;
}

void add_target_commands(CLI::App& program, std::vector<std::unique_ptr<Command>>& commands) {
  commands.push_back(std::make_unique<TopCommand>(program));
  commands.push_back(std::make_unique<StatusCommand>(program));
  CLI::App& exports = add_family(program, "export", "the exports of the target on this machine",
                                 "Examples:\n"
                                 "  rdmablk export ls\n"
                                 "  rdmablk export add scratch=memory:4G --runtime\n"
                                 "  rdmablk export resize scratch +4G\n"
                                 "  rdmablk export rm scratch --discard");
  commands.push_back(std::make_unique<ExportListCommand>(exports));
  commands.push_back(std::make_unique<ExportAddCommand>(exports));
  commands.push_back(std::make_unique<ExportRemoveCommand>(exports));
  commands.push_back(std::make_unique<ExportResizeCommand>(exports));
  CLI::App& sessions = add_family(program, "session", "who uses the target on this machine",
                                  "Examples:\n"
                                  "  rdmablk session ls\n"
                                  "  rdmablk session evict 7 --reason maintenance");
  commands.push_back(std::make_unique<SessionListCommand>(sessions));
  commands.push_back(std::make_unique<SessionEvictCommand>(sessions));
  commands.push_back(std::make_unique<ReloadCommand>(program));
}

}  // namespace rdmablk::cli
