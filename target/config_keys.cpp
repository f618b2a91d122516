#include "target/config_keys.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <optional>

#include "common/error.h"
#include "common/nearest_word.h"
#include "target/option_draft.h"
#include "target/option_kinds.h"

namespace rdmablk::target {
namespace {

using Kind = ConfigValue::Kind;

constexpr std::string_view kDashes = "--";

bool is_command_line_only(const CLI::Option& option) {
  return option.get_group() == kCommandLineOnly || option.get_name() == "--help" ||
         option.get_name() == "--version";
}

bool is_flag(const CLI::Option& option) {
  return option.get_expected_min() == 0;
}

std::string key_of(const CLI::Option& option) {
  std::string key = option.get_lnames().front();
  std::replace(key.begin(), key.end(), '-', '_');
  return key;
}

std::string suggestion_for(const CLI::App& app, const std::string& key) {
  const auto keys = config_keys(app);
  const std::vector<std::string_view> known(keys.begin(), keys.end());
  return suggestion(key, known);
}

/// What is wrong with a value's type; nothing when it is right.
std::optional<std::string> fault_of_type(const CLI::Option& option, const ConfigEntry& entry) {
  const Kind kind = entry.value.kind;
  const bool takes_several = option.get_expected_max() > 1;
  const char* wanted = nullptr;
  if (is_flag(option)) {
    if (kind != Kind::flag) wanted = "true or false";
  } else if (takes_several) {
    const bool is_right = kind == Kind::text || kind == Kind::list;
    if (!is_right || entry.value.has_numbers) wanted = "a text or an array of texts";
  } else if (takes_number(option)) {
    if (kind != Kind::text) wanted = "a text or a number";
  } else if (kind != Kind::text || entry.value.has_numbers) {
    wanted = "a text";
  }
  if (wanted == nullptr) return std::nullopt;
  return fmt::format("{} takes {}, not {}", entry.key, wanted, entry.value.type);
}

void set(CLI::Option& option, const ConfigValue& value) {
  option.clear();
  if (value.kind == Kind::flag) {
    option.add_result(value.flag ? "true" : "false");
  } else {
    for (const std::string& text : value.texts) option.add_result(text);
  }
  // With an empty array there is nothing to be called for.
  if (!value.texts.empty() || value.kind == Kind::flag) option.run_callback();
  option.clear();
}

}  // namespace

std::string option_name(std::string_view key) {
  std::string name = std::string(kDashes) + std::string(key);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

std::vector<std::string> config_keys(const CLI::App& app) {
  std::vector<std::string> keys;
  for (const CLI::Option* const option : app.get_options()) {
    if (!is_command_line_only(*option)) keys.push_back(key_of(*option));
  }
  return keys;
}

std::string in_words_of_keys(const CLI::App& app, std::string text) {
  std::size_t from = 0;
  while ((from = text.find(kDashes, from)) != std::string::npos) {
    const auto end = text.find_first_not_of("abcdefghijklmnopqrstuvwxyz-", from);
    const auto length = (end == std::string::npos ? text.size() : end) - from;
    const auto* const option = app.get_option_no_throw(text.substr(from, length));
    if (option != nullptr && !is_command_line_only(*option)) {
      text.replace(from, length, key_of(*option));
    } else {
      from += length;
    }
  }
  return text;
}

bool apply_key(CLI::App& app, const ConfigEntry& entry, Complaints& complaints) {
  CLI::Option* const option = app.get_option_no_throw(option_name(entry.key));
  const bool is_spelt = option != nullptr && key_of(*option) == entry.key;
  if (is_spelt && is_command_line_only(*option)) {
    complaints.add(entry.place, fmt::format("'{}' is no key: {} is for the command line alone",
                                            entry.key, option_name(entry.key)));
    return false;
  }
  if (!is_spelt) {
    complaints.add(entry.place,
                   fmt::format("unknown key '{}'{}", entry.key, suggestion_for(app, entry.key)));
    return false;
  }
  if (const auto fault = fault_of_type(*option, entry)) {
    complaints.add(entry.value_place, *fault);
    return false;
  }
  try {
    set(*option, entry.value);
    return true;
  } catch (const UsageError& error) {
    complaints.add(entry.value_place, in_words_of_keys(app, error.what()));
  } catch (const CLI::Error& error) {
    complaints.add(entry.value_place, in_words_of_keys(app, error.what()));
  }
  option->clear();
  return false;
}

}  // namespace rdmablk::target
