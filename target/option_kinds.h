#pragma once

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "common/option_values.h"

namespace rdmablk::target {

/// What stands for numbers among the types of values.
inline constexpr std::string_view kNumber = "N";
inline constexpr std::string_view kSeconds = "SECONDS";
inline constexpr std::string_view kSize = "SIZE";
inline constexpr std::string_view kBytes = "BYTES";
inline constexpr std::string_view kPort = "[ADDR:]PORT";
inline constexpr std::string_view kMask = "MASK|NAME,...";

/// Whether a number is a value of an option: of most others it would be a slip, such as a path that
/// is called 3.
inline bool takes_number(const CLI::Option& option) {
  constexpr std::array kTypes{kNumber, kSeconds, kSize, kBytes, kPort, kMask};
  return std::find(kTypes.begin(), kTypes.end(), option.get_type_name()) != kTypes.end();
}

/// Adds an option that takes a text, which is read at once.
/// @param type of the value, for --help. @param take may throw UsageError; outlives the parsing, as
/// what it refers to does.
inline CLI::Option* add_text(CLI::App& app, const std::string& name, std::string_view type,
                             const std::function<void(const std::string&)>& take,
                             const std::string& description) {
  return app.add_option_function<std::string>(name, take, description)
      ->type_name(std::string(type));
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
      ->type_name(std::string(kNumber))
      ->default_str(std::to_string(value));
}

}  // namespace rdmablk::target
