#include "common/unexpected_argument.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <vector>

#include "common/nearest_word.h"

namespace rdmablk {
namespace {

/// As they are written, without those that --help does not tell of.
std::vector<std::string> options_of(const CLI::App& command) {
  std::vector<std::string> options;
  for (const CLI::Option* const option : command.get_options()) {
    if (option->get_group().empty()) continue;
    for (const std::string& name : option->get_lnames()) options.push_back("--" + name);
  }
  return options;
}

std::vector<std::string> commands_of(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::App* const below :
       command.get_subcommands([](const CLI::App*) { return true; })) {
    if (!below->get_group().empty()) names.push_back(below->get_name());
  }
  return names;
}

std::string meant(std::string_view word, const std::vector<std::string>& known) {
  return suggestion(word, std::vector<std::string_view>(known.begin(), known.end()));
}

}  // namespace

std::string complaint_about_word(const CLI::App& command, std::string_view word) {
  if (word.starts_with('-')) {
    const std::string_view name = word.substr(0, word.find('='));
    return fmt::format("unknown option '{}'{}", name, meant(name, options_of(command)));
  }
  if (command.get_require_subcommand_min() > 0) {
    return fmt::format("unknown command '{}'{}", word, meant(word, commands_of(command)));
  }
  return fmt::format("unexpected argument '{}'", word);
}

}  // namespace rdmablk
