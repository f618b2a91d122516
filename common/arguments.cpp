#include "common/arguments.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "common/error.h"
#include "common/option_values.h"
#include "common/unexpected_argument.h"

namespace rdmablk {
namespace {

/// The command that the line names, whose options it is about; the program itself without one.
const CLI::App& named_command(const CLI::App& program) {
  const auto commands = program.get_subcommands();
  return commands.empty() ? program : *commands.front();
}

std::string complaint(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& command = named_command(program);
  const auto unknown = command.remaining();
  if (!unknown.empty()) return complaint_about_word(command, unknown.front());
  return complaint_about_values(command, error);
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
    throw UsageError(fmt::format("{}; --help shows how to use it", complaint(program, error)));
  }
  return true;
}

}  // namespace rdmablk
