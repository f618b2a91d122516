#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>

namespace rdmablk::target {

/// The members of a JSON object that somebody else has made, as they are taken out. Whatever is
/// wrong with one throws UsageError, which names it.
class AdminMembers {
 public:
  /// @param object stays as long as this. Throws UsageError when it is none.
  /// @param what it is, for messages: "a request".
  AdminMembers(const nlohmann::json& object, std::string what);

  bool has(const char* key) const { return object_.contains(key); }

  /// A text of one line. @return nothing when it is left out.
  std::optional<std::string> text(const char* key);

  /// The same of one that must be there.
  std::string needed_text(const char* key);

  /// A size: a number of bytes, or a text. @return the text; nothing when it is left out.
  std::optional<std::string> size(const char* key);

  /// A boolean; false when it is left out.
  bool flag(const char* key);

  /// A number that must be there.
  std::uint64_t needed_number(const char* key, std::uint64_t most);

  /// Any member. @return null when it is left out.
  const nlohmann::json* member(const char* key);

  /// All have been taken that may be there. Throws UsageError for one that has not.
  void finish() const;

 private:
  const nlohmann::json& object_;
  std::string what_;
  std::set<std::string> taken_;
};

/// Whether a text has neither line ends nor other control characters.
bool is_one_line(const std::string& text);

}  // namespace rdmablk::target
