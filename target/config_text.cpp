#include "target/config_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <optional>
#include <tuple>
#include <utility>

#include <toml++/toml.h>

namespace rdmablk::target {
namespace {

/// [export.NAME] and what is in it, and one more, to say that it is too deep.
constexpr unsigned kMaxDepth = 4;

/// The library makes a table for each part of a dotted key, each within the one before, and takes
/// them down by recursion.
constexpr std::ptrdiff_t kMaxDots = 1000;

ConfigPlace place_of(const toml::source_position& position, const std::string& file) {
  return {file, static_cast<unsigned>(position.line), static_cast<unsigned>(position.column)};
}

[[noreturn]] void refuse(const ConfigPlace& place, const std::string& why) {
  Complaints complaints;
  complaints.add(place, why);
  complaints.raise();
  std::abort();  // not reached
}

void check_dots(std::string_view text, const std::string& file) {
  for (unsigned line = 1;; ++line) {
    const auto end = text.find('\n');
    const auto words = text.substr(0, end);
    if (std::count(words.begin(), words.end(), '.') > kMaxDots) {
      refuse({file, line, 1}, fmt::format("more than {} dots in one line", kMaxDots));
    }
    if (end == std::string_view::npos) return;
    text.remove_prefix(end + 1);
  }
}

/// The system would take it for the end of a path.
bool has_zero(const toml::value<std::string>& text) {
  return text.get().find('\0') != std::string::npos;
}

std::string type_name(const toml::node& node) {
  switch (node.type()) {
    case toml::node_type::table:
      return "a table";
    case toml::node_type::array:
      return "an array";
    case toml::node_type::string:
      return has_zero(*node.as_string()) ? "a text with a zero byte" : "a text";
    case toml::node_type::integer:
      return "an integer";
    case toml::node_type::floating_point:
      return "a number with a fraction";
    case toml::node_type::boolean:
      return "true or false";
    default:
      return "a date or time";
  }
}

/// Of strings and numbers: as it would be written on a command line.
std::optional<std::string> text_of(const toml::node& node) {
  if (const auto* const text = node.as_string(); text != nullptr && !has_zero(*text)) {
    return text->get();
  }
  if (const auto* const number = node.as_integer()) return fmt::format("{}", number->get());
  if (const auto* const number = node.as_floating_point()) return fmt::format("{}", number->get());
  return std::nullopt;
}

class Converter {
 public:
  explicit Converter(const std::string& file) : file_(file) {}

  std::vector<ConfigEntry> entries(const toml::table& table, unsigned depth) const {
    std::vector<ConfigEntry> entries;
    for (const auto& [key, node] : table) {
      entries.push_back({std::string(key.str()), place_of(key.source().begin, file_),
                         value(node, depth), place_of(node.source().begin, file_)});
    }
    std::sort(entries.begin(), entries.end(), [](const auto& a, const auto& b) {
      return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
    });
    return entries;
  }

 private:
  ConfigValue value(const toml::node& node, unsigned depth) const {
    ConfigValue value;
    value.type = type_name(node);
    if (const auto* const flag = node.as_boolean()) {
      value.kind = ConfigValue::Kind::flag;
      value.flag = flag->get();
    } else if (auto text = text_of(node)) {
      value.kind = ConfigValue::Kind::text;
      value.has_numbers = node.is_number();
      value.texts.push_back(std::move(*text));
    } else if (const auto* const array = node.as_array()) {
      take_array(*array, value);
    } else if (node.is_table() && depth < kMaxDepth) {
      value.kind = ConfigValue::Kind::table;
      value.entries = entries(*node.as_table(), depth + 1);
    }
    return value;
  }

  static void take_array(const toml::array& array, ConfigValue& value) {
    value.kind = ConfigValue::Kind::list;
    for (const toml::node& element : array) {
      auto text = text_of(element);
      if (text) {
        value.texts.push_back(std::move(*text));
        if (element.is_number()) {
          value.has_numbers = true;
          value.type = fmt::format("an array with {}", type_name(element));
        }
        continue;
      }
      value.kind = ConfigValue::Kind::other;
      value.type = fmt::format("an array with {}", type_name(element));
      return;
    }
  }

  const std::string& file_;
};

}  // namespace

std::vector<ConfigEntry> parse_config_text(std::string_view text, const std::string& file) {
  if (text.size() > kMaxConfigFile) {
    refuse({file, 0, 0},
           fmt::format("it has {} bytes, and {} are the most", text.size(), kMaxConfigFile));
  }
  check_dots(text, file);
  toml::table table;
  try {
    table = toml::parse(text, file);
  } catch (const toml::parse_error& error) {
    refuse(place_of(error.source().begin, file), std::string(error.description()));
  }
  return Converter(file).entries(table, 1);
}

}  // namespace rdmablk::target
