#include "target/catalog.h"

#include <fmt/format.h>

namespace rdmablk::target {
namespace {

/// The longest list of names in a message, in bytes; it shares protocol::Reason with other words.
constexpr std::size_t kMaxNames = 700;

}  // namespace

bool Offer::is_served(protocol::Access access) const noexcept {
  return info.kind == protocol::ExportKind::file ||
         (info.kind == protocol::ExportKind::resident && access == protocol::Access::read_write);
}

const Grant& Offer::grant(protocol::Access access) const {
  return access == protocol::Access::read_write ? read_write.value() : read_only;
}

void Catalog::add(Offer offer) {
  std::string name = offer.info.name;
  offers_.insert_or_assign(std::move(name), std::move(offer));
}

const Offer* Catalog::find(std::string_view name) const {
  const auto found = offers_.find(name);
  return found == offers_.end() ? nullptr : &found->second;
}

protocol::ListReply Catalog::page(std::string_view after) const {
  protocol::ListReply reply;
  auto next = offers_.upper_bound(after);
  for (; next != offers_.end() && reply.exports.size() < protocol::ListReply::kMaxEntries; ++next) {
    reply.exports.push_back(next->second.info);
  }
  reply.more = next != offers_.end();
  return reply;
}

std::string Catalog::names() const {
  if (offers_.empty()) return "none";
  std::string text;
  std::size_t shown = 0;
  for (const auto& [name, offer] : offers_) {
    if (text.size() + name.size() > kMaxNames) break;
    if (shown++ > 0) text += ", ";
    text += name;
  }
  if (shown < offers_.size()) text += fmt::format(" and {} more", offers_.size() - shown);
  return text;
}

}  // namespace rdmablk::target
