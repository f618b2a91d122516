#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <string>

#include "common/option_values.h"

namespace rdmablk::target {

/// Adds an option that takes a text, which is read at once.
/// @param type of the value, for --help. @param take may throw UsageError; outlives the parsing, as
/// what it refers to does.
inline CLI::Option* add_text(CLI::App& app, const std::string& name, const std::string& type,
                             const std::function<void(const std::string&)>& take,
                             const std::string& description) {
  return app.add_option_function<std::string>(name, take, description)->type_name(type);
}

/// Adds an option that takes a whole number, with what `value` holds as its default.
/// @param value outlives the parsing.
template <typename Number>
CLI::Option* add_number(CLI::App& app, const std::string& name, Number& value, std::uint64_t least,
                        std::uint64_t most, const std::string& description) {
  const auto take = [&value, name, least, most](const std::string& text) {
    value = static_cast<Number>(read_number(name, text, least, most));
  };
  return app.add_option_function<std::string>(name, take, description)
      ->type_name("N")
      ->default_str(std::to_string(value));
}

}  // namespace rdmablk::target
