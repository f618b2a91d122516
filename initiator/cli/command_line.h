#pragma once

namespace rdmablk::cli {

/// Reads the command line of `rdmablk` and runs the command that it asks for. Throws UsageError for
/// one that makes no sense, and whatever the command throws.
/// @return the exit status.
int run_command_line(int argc, char** argv);

}  // namespace rdmablk::cli
