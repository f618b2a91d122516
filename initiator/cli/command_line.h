#pragma once

#include <memory>
#include <vector>

#include "initiator/cli/command.h"

namespace rdmablk::cli {

/// The command line of `rdmablk`.
class CommandLine {
 public:
  CommandLine();
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  /// Reads one, once. Throws UsageError when it makes no sense.
  /// @return the command that it asks for; null when it was answered on standard output: --help.
  Command* parse(int argc, const char* const* argv);

 private:
  std::unique_ptr<CLI::App> program_;
  std::vector<std::unique_ptr<Command>> commands_;
};

/// Reads the command line of `rdmablk` and runs the command that it asks for. Throws UsageError for
/// one that makes no sense, and whatever the command throws.
/// @return the exit status.
int run_command_line(int argc, char** argv);

}  // namespace rdmablk::cli
