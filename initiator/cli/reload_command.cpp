#include "initiator/cli/reload_command.h"

#include <CLI/CLI.hpp>

namespace rdmablk::cli {

ReloadCommand::ReloadCommand(CLI::App& parent)
    : AdminCommand(parent, "reload",
                   "have the target on this machine read its configuration and keys again", kLong) {
  arguments().footer(
      "Adds, removes and resizes exports as the configuration asks for; the sessions of the others "
      "go\n"
      "on. Returns when it is done, and says what could not be.\n"
      "\n"
      "Examples:\n"
      "  rdmablk reload");
}

int ReloadCommand::run() {
  return change({{"request", "reload"}}, "have the target reload");
}

}  // namespace rdmablk::cli
