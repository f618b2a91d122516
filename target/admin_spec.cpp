#include "target/admin_spec.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "common/error.h"
#include "target/admin_members.h"

namespace rdmablk::target {
namespace {

using nlohmann::json;

/// The longest text of an export, in bytes.
constexpr std::size_t kMaxText = 16384;

/// As a value stands in --export.
std::string escaped(const std::string& value) {
  std::string text;
  for (const char c : value) {
    if (c == ',' || c == '\\') text += '\\';
    text += c;
  }
  return text;
}

[[noreturn]] void refuse_relative() {
  throw UsageError("the path of an export that is asked for over this socket has to be absolute");
}

/// Looks for a path in a text of --export. Such a name has none of these characters, and what
/// stands behind a comma that is escaped may be taken for an option: then a path is refused that
/// could be meant, never one accepted that is relative.
void check_paths(const std::string& text) {
  for (const std::string_view before : {"=file:", ",save="}) {
    for (auto at = text.find(before); at != std::string::npos; at = text.find(before, at + 1)) {
      const auto first = at + before.size();
      if (first < text.size() && text[first] != '/') refuse_relative();
    }
  }
}

void add_flags(AdminMembers& members, std::string& text) {
  for (const char* const key : {"readonly", "shared", "sparse", "resident"}) {
    if (members.flag(key)) text += fmt::format(",{}", key);
  }
}

void add_values(AdminMembers& members, std::string& text) {
  for (const char* const key : {"huge", "chunk"}) {
    if (const auto value = members.size(key)) text += fmt::format(",{}={}", key, escaped(*value));
  }
  for (const char* const key : {"direct", "save"}) {
    if (const auto value = members.text(key)) text += fmt::format(",{}={}", key, escaped(*value));
  }
}

void add_rules(AdminMembers& members, std::string& text) {
  const json* const rules = members.member("allow");
  if (rules == nullptr) return;
  if (!rules->is_array()) throw UsageError("'allow' takes a list of texts");
  for (const json& rule : *rules) {
    if (!rule.is_string()) throw UsageError("'allow' takes a list of texts");
    text += fmt::format(",allow={}", escaped(rule.get<std::string>()));
  }
}

/// The same export as --export would have it.
std::string text_of(const json& value) {
  AdminMembers members(value, "an export");
  const std::string name = members.needed_text("name");
  // Nothing else may stand in front of the text's first '='.
  if (name.find_first_of("=,\\") != std::string::npos) {
    throw UsageError(fmt::format("'{}' is not a name of an export", name.substr(0, 64)));
  }
  const std::string type = members.needed_text("type");
  const auto size = members.size("size");
  std::string text;
  if (type == "memory") {
    if (!size) throw UsageError("an export of memory needs 'size'");
    text = fmt::format("{}=memory:{}", name, escaped(*size));
  } else if (type == "file") {
    const std::string path = members.needed_text("path");
    if (!path.starts_with('/')) refuse_relative();
    text = fmt::format("{}=file:{}", name, escaped(path));
    if (size) text += fmt::format(",size={}", escaped(*size));
  } else {
    throw UsageError("'type' takes \"memory\" or \"file\"");
  }
  add_flags(members, text);
  add_values(members, text);
  add_rules(members, text);
  members.finish();
  return text;
}

}  // namespace

ExportSpec read_admin_spec(const json& value) {
  const std::string text = value.is_string() ? value.get<std::string>() : text_of(value);
  if (text.size() > kMaxText) throw UsageError("'export' is too long");
  if (!is_one_line(text)) throw UsageError("'export' has control characters in it");
  check_paths(text);
  return parse_export_spec(text);
}

}  // namespace rdmablk::target
