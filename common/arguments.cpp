#include "common/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/error.h"
#include "common/option_values.h"

namespace rdmablk {
namespace {

/// The command that the line names, whose options it is about; the program itself without one.
const CLI::App& named_command(const CLI::App& program) {
  const auto commands = program.get_subcommands();
  return commands.empty() ? program : *commands.front();
}

}  // namespace

bool read_arguments(CLI::App& program, int argc, const char* const* argv) {
  check_words(argc, argv);
  try {
    program.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    program.exit(asked);
    return false;
  } catch (const CLI::ParseError& error) {
    throw UsageError(fmt::format("{}; --help shows how to use it",
                                 complaint_about_values(named_command(program), error)));
  }
  return true;
}

}  // namespace rdmablk
