#pragma once

#include <memory>
#include <vector>

#include "initiator/cli/command.h"

namespace rdmablk::cli {

/// Adds what is said to the target on this machine: status, export ..., session ..., reload.
/// @param program outlives the commands.
void add_target_commands(CLI::App& program, std::vector<std::unique_ptr<Command>>& commands);

/// Adds a command that is nothing but a family of others: `rdmablk export`.
CLI::App& add_family(CLI::App& program, const char* name, const char* description,
                     const char* footer);

}  // namespace rdmablk::cli
