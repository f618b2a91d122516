#include "common/auth/key_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "common/auth/secret_file.h"
#include "common/error.h"
#include "common/export_name.h"

namespace rdmablk::auth {
namespace {

constexpr std::string_view kBlanks = " \t\r";

/// Takes the first word off a text.
std::string_view take_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(kBlanks), text.size()));
  const auto word = text.substr(0, text.find_first_of(kBlanks));
  text.remove_prefix(word.size());
  return word;
}

std::string_view take_line(std::string_view& text) {
  const auto line = text.substr(0, text.find('\n'));
  text.remove_prefix(std::min(line.size() + 1, text.size()));
  return line;
}

/// It says nothing of what the line has: that may be most of a key.
[[noreturn]] void refuse(const std::string& path, unsigned line) {
  throw Error(
      fmt::format("cannot use the key file {}: line {} is not [CLIENT] KEY, where KEY is as "
                  "`rdmablk keygen` prints it, and CLIENT up to {} letters, digits, '.', '_' and "
                  "'-', the first a letter or digit",
                  path, line, kMaxExportName));
}

NamedKey parse_line(std::string_view line, const std::string& path, unsigned number) {
  const auto first = take_word(line);
  const auto second = take_word(line);
  const bool has_client = !second.empty();
  const auto key = Key::parse(has_client ? second : first);
  if (!key || !take_word(line).empty() || (has_client && !is_export_name(first))) {
    refuse(path, number);
  }
  return {has_client ? std::string(first) : "", *key};
}

bool is_passed_over(std::string_view line) {
  const auto first = line.find_first_not_of(kBlanks);
  return first == std::string_view::npos || line[first] == '#';
}

}  // namespace

std::vector<NamedKey> parse_keys(std::string_view text, const std::string& path) {
  std::vector<NamedKey> keys;
  for (unsigned number = 1; !text.empty(); ++number) {
    const auto line = take_line(text);
    if (!is_passed_over(line)) keys.push_back(parse_line(line, path, number));
  }
  return keys;
}

std::vector<NamedKey> read_key_file(const std::string& path) {
  const SecretText text = read_secret_file(path);
  return parse_keys(text.view(), path);
}

}  // namespace rdmablk::auth
