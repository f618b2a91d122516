#include "target/admin_members.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"

namespace rdmablk::target {
namespace {

/// Texts in messages are cut, so that whoever sends much does not get it back.
constexpr std::size_t kMaxQuoted = 64;

/// The longest text, in bytes: a path and what stands around it.
constexpr std::size_t kMaxText = 8192;

std::string quoted(const std::string& text) {
  if (!is_one_line(text)) return "(a text of several lines)";
  return text.size() <= kMaxQuoted ? text : text.substr(0, kMaxQuoted) + "...";
}

}  // namespace

bool is_one_line(const std::string& text) {
  constexpr unsigned char kDelete = 0x7f;
  return std::none_of(text.begin(), text.end(), [](unsigned char c) {
    return c < static_cast<unsigned char>(' ') || c == kDelete;
  });
}

AdminMembers::AdminMembers(const nlohmann::json& object, std::string what)
    : object_(object), what_(std::move(what)) {
  if (!object.is_object()) throw UsageError(fmt::format("{} is a JSON object", what_));
}

const nlohmann::json* AdminMembers::member(const char* key) {
  const auto found = object_.find(key);
  if (found == object_.end()) return nullptr;
  taken_.insert(key);
  return &*found;
}

std::optional<std::string> AdminMembers::text(const char* key) {
  const auto* const value = member(key);
  if (value == nullptr) return std::nullopt;
  if (!value->is_string()) throw UsageError(fmt::format("'{}' takes a text", key));
  auto text = value->get<std::string>();
  if (text.size() > kMaxText) throw UsageError(fmt::format("'{}' is too long", key));
  if (!is_one_line(text)) {
    throw UsageError(fmt::format("'{}' has control characters in it", key));
  }
  return text;
}

std::string AdminMembers::needed_text(const char* key) {
  auto found = text(key);
  if (!found) throw UsageError(fmt::format("{} needs '{}'", what_, key));
  return std::move(*found);
}

std::optional<std::string> AdminMembers::size(const char* key) {
  const auto found = object_.find(key);
  if (found == object_.end() || found->is_string()) return text(key);
  taken_.insert(key);
  if (!found->is_number_unsigned()) {
    throw UsageError(fmt::format("'{}' takes a number of bytes, or a text such as \"4G\"", key));
  }
  return std::to_string(found->get<std::uint64_t>());
}

bool AdminMembers::flag(const char* key) {
  const auto* const value = member(key);
  if (value == nullptr) return false;
  if (!value->is_boolean()) throw UsageError(fmt::format("'{}' takes true or false", key));
  return value->get<bool>();
}

std::uint64_t AdminMembers::needed_number(const char* key, std::uint64_t most) {
  const auto* const value = member(key);
  if (value == nullptr) throw UsageError(fmt::format("{} needs '{}'", what_, key));
  if (!value->is_number_unsigned() || value->get<std::uint64_t>() > most) {
    throw UsageError(fmt::format("'{}' takes a number of at most {}", key, most));
  }
  return value->get<std::uint64_t>();
}

void AdminMembers::finish() const {
  for (const auto& [key, value] : object_.items()) {
    if (taken_.contains(key)) continue;
    throw UsageError(fmt::format("{} has no '{}'", what_, quoted(key)));
  }
}

}  // namespace rdmablk::target
