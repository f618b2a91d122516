#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/protocol/messages.h"
#include "target/address_prefix.h"

namespace rdmablk::target {

/// Who may have an export, and how: what its options `allow` say, one rule each.
class AccessRules {
 public:
  /// Adds a rule: CLIENT[:ro|:rw][@ADDRESS[/BITS]], where CLIENT is a name, or * for all. Throws
  /// UsageError.
  /// @param name of the export, for messages.
  void add(std::string_view text, std::string_view name);

  /// The most that any rule gives; nothing: the export is not there for this client. Without any
  /// rule everybody may read and write.
  /// @param client empty when nobody is asked who they are: only rules for all apply.
  /// @param address nothing: it is in no range.
  std::optional<protocol::Access> access_of(std::string_view client,
                                            const std::optional<asio::ip::address>& address) const;

  friend bool operator==(const AccessRules&, const AccessRules&) = default;

  /// The rules as add() takes them.
  std::vector<std::string> texts() const;

  /// The names in its rules.
  std::vector<std::string> clients() const;

 private:
  struct Rule {
    std::string client;  ///< empty: all
    protocol::Access access = protocol::Access::read_write;
    std::optional<AddressPrefix> from;  ///< nothing: from everywhere

    friend bool operator==(const Rule&, const Rule&) = default;
  };

  static bool applies(const Rule& rule, std::string_view client,
                      const std::optional<asio::ip::address>& address);

  std::vector<Rule> rules_;
};

}  // namespace rdmablk::target
