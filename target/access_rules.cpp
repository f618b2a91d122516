#include "target/access_rules.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/export_name.h"

namespace rdmablk::target {
namespace {

using protocol::Access;

constexpr std::string_view kAll = "*";

}  // namespace

void AccessRules::add(std::string_view text, std::string_view name) {
  const auto refuse = [&] {
    throw UsageError(fmt::format(
        "export '{}' is allowed to '{}': it takes allow=CLIENT[:ro|:rw][@ADDRESS[/BITS]], where "
        "CLIENT is a client's name, or * for all",
        name, text));
  };
  Rule rule;
  const auto at = text.find('@');
  std::string_view who = text.substr(0, at);
  if (const auto colon = who.find(':'); colon != std::string_view::npos) {
    const auto access = who.substr(colon + 1);
    if (access != "ro" && access != "rw") refuse();
    if (access == "ro") rule.access = Access::read_only;
    who = who.substr(0, colon);
  }
  if (who != kAll && !is_export_name(who)) refuse();
  if (who != kAll) rule.client = who;
  if (at != std::string_view::npos) rule.from = AddressPrefix::parse(text.substr(at + 1));
  rules_.push_back(std::move(rule));
}

bool AccessRules::applies(const Rule& rule, std::string_view client,
                          const std::optional<asio::ip::address>& address) {
  if (!rule.client.empty() && rule.client != client) return false;
  return !rule.from || (address && rule.from->contains(*address));
}

std::optional<Access> AccessRules::access_of(
    std::string_view client, const std::optional<asio::ip::address>& address) const {
  if (rules_.empty()) return Access::read_write;
  std::optional<Access> most;
  for (const Rule& rule : rules_) {
    if (applies(rule, client, address)) most = std::max(most.value_or(rule.access), rule.access);
  }
  return most;
}

std::vector<std::string> AccessRules::texts() const {
  std::vector<std::string> texts;
  for (const Rule& rule : rules_) {
    texts.push_back(fmt::format("{}{}{}", rule.client.empty() ? kAll : rule.client,
                                rule.access == Access::read_only ? ":ro" : "",
                                rule.from ? "@" + rule.from->text() : ""));
  }
  return texts;
}

std::vector<std::string> AccessRules::clients() const {
  std::vector<std::string> names;
  for (const Rule& rule : rules_) {
    if (!rule.client.empty()) names.push_back(rule.client);
  }
  return names;
}

}  // namespace rdmablk::target
