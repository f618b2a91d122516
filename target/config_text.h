#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "target/config_error.h"

namespace rdmablk::target {

struct ConfigEntry;

/// What stands behind a key.
struct ConfigValue {
  enum class Kind {
    flag,   ///< a boolean: `flag`
    text,   ///< a string or a number: one of `texts`
    list,   ///< an array of those: `texts`
    table,  ///< `entries`
    other,  ///< nothing that any key takes
  };

  Kind kind = Kind::other;
  bool flag = false;
  std::vector<std::string> texts;
  bool has_numbers = false;  ///< whether any of those was written as a number, not as a string
  std::vector<ConfigEntry> entries;
  std::string type;  ///< what it is, for messages: "an integer", "an array of tables"
};

/// A key of a configuration file with its value.
struct ConfigEntry {
  std::string key;
  ConfigPlace place;  ///< of the key, or of a table's header
  ConfigValue value;
  ConfigPlace value_place;
};

/// The most bytes that a file may have.
inline constexpr std::size_t kMaxConfigFile = std::size_t{256} << 10U;

/// Reads a file of TOML (https://toml.io). Tables may lie in tables as deep as any key of ours
/// does.
/// @param file its name, for places. @return the entries as they stand in the file. Throws
/// ConfigError when it is no TOML, at the first place where it is none.
std::vector<ConfigEntry> parse_config_text(std::string_view text, const std::string& file);

}  // namespace rdmablk::target
