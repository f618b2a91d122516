#include "common/option_values.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <string_view>

#include "common/error.h"
#include "common/units.h"

namespace rdmablk {

void refuse_empty_values(CLI::App& program) {
  for (CLI::Option* const option : program.get_options()) {
    if (option->get_expected_min() == 0) continue;  // a flag
    option->check([](const std::string& text) { return text.empty() ? "its value is empty" : ""; });
  }
  for (CLI::App* const command : program.get_subcommands({})) refuse_empty_values(*command);
}

void check_words(int argc, const char* const* argv) {
  for (int i = 1; i < argc; ++i) {
    const std::string_view word = argv[i];
    if (word == "--") return;
    if (!word.starts_with("--") || word.find('=') != word.size() - 1) continue;
    throw UsageError(fmt::format("{}: its value is empty", word.substr(0, word.size() - 1)));
  }
}

std::string complaint_about_values(const CLI::App& command, const CLI::ParseError& error) {
  const std::string text = error.what();  // "--bs: 1 required SIZE missing"
  if (dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) return text;
  const std::string name = text.substr(0, text.find(':'));
  const CLI::Option* const option = command.get_option_no_throw(name);
  const bool is_repeated = option != nullptr && option->count() > 1;
  return name + (is_repeated ? ": given more than once" : " needs a value");
}

std::uint64_t read_number(const std::string& option, const std::string& text, std::uint64_t least,
                          std::uint64_t most) {
  const auto number = parse_number(text, most);
  if (number && *number >= least) return *number;
  throw UsageError(
      fmt::format("{} takes a number from {} to {}, not '{}'", option, least, most, text));
}

}  // namespace rdmablk
