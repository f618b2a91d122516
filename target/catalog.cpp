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

void Catalog::update(Offer offer) {
  for (Offers* const offers : {&offers_, &withdrawn_}) {
    const auto found = offers->find(offer.info.name);
    if (found != offers->end()) found->second = offer;
  }
}

const Offer* Catalog::find(const Offers& offers, std::string_view name) {
  const auto found = offers.find(name);
  return found == offers.end() ? nullptr : &found->second;
}

/// Offers stay where they are: others point to them.
void Catalog::move(Offers& from, Offers& to, std::string_view name) {
  const auto found = from.find(name);
  if (found != from.end()) to.insert(from.extract(found));
}

const Offer* Catalog::find(std::string_view name) const {
  return find(offers_, name);
}

void Catalog::withdraw(std::string_view name) {
  move(offers_, withdrawn_, name);
}

const Offer* Catalog::find_withdrawn(std::string_view name) const {
  return find(withdrawn_, name);
}

const Offer* Catalog::find_for_users(std::string_view name) const {
  const Offer* const offered = find(name);
  return offered != nullptr ? offered : find_withdrawn(name);
}

void Catalog::restore(std::string_view name) {
  move(withdrawn_, offers_, name);
}

void Catalog::remove(std::string_view name) {
  const auto found = withdrawn_.find(name);
  if (found != withdrawn_.end()) withdrawn_.erase(found);
}

void Catalog::void_grants() noexcept {
  for (Offers* const offers : {&offers_, &withdrawn_}) {
    for (auto& [name, offer] : *offers) {
      offer.is_registered = false;
      offer.read_only = {};
      if (offer.read_write) offer.read_write = Grant{};
    }
  }
}

protocol::ListReply Catalog::page(std::string_view after, const Filter& is_visible) const {
  protocol::ListReply reply;
  for (auto next = offers_.upper_bound(after); next != offers_.end(); ++next) {
    if (!is_visible(next->second)) continue;
    reply.more = reply.exports.size() == protocol::ListReply::kMaxEntries;
    if (reply.more) break;
    reply.exports.push_back(next->second.info);
  }
  return reply;
}

std::string Catalog::names(const Filter& is_visible) const {
  std::string text;
  std::size_t left_out = 0;
  for (const auto& [name, offer] : offers_) {
    if (!is_visible(offer)) continue;
    if (left_out > 0 || text.size() + name.size() > kMaxNames) {
      ++left_out;
      continue;
    }
    if (!text.empty()) text += ", ";
    text += name;
  }
  if (left_out > 0) text += fmt::format(" and {} more", left_out);
  return text.empty() ? "none" : text;
}

}  // namespace rdmablk::target
