#include "target/exports_view.h"

#include "target/access_rules.h"

namespace rdmablk::target {

using protocol::Access;

std::optional<Access> ExportsView::access_to(const Offer& offer) const {
  if (offer.rules == nullptr) return Access::read_write;
  return offer.rules->access_of(peer_.client, address_of(peer_.address));
}

const Offer* ExportsView::find(std::string_view name) const {
  const Offer* const offer = catalog_.find(name);
  return offer != nullptr && access_to(*offer) ? offer : nullptr;
}

bool ExportsView::is_leaving(std::string_view name) const {
  const Offer* const offer = catalog_.find_withdrawn(name);
  return offer != nullptr && access_to(*offer);
}

bool ExportsView::may_write(const Offer& offer) const {
  return offer.read_write && access_to(offer) == Access::read_write;
}

protocol::ListReply ExportsView::page(std::string_view after) const {
  auto reply =
      catalog_.page(after, [this](const Offer& offer) { return access_to(offer).has_value(); });
  for (protocol::ExportInfo& info : reply.exports) {
    info.read_only = !may_write(*catalog_.find(info.name));
  }
  return reply;
}

std::string ExportsView::names() const {
  return catalog_.names([this](const Offer& offer) { return access_to(offer).has_value(); });
}

bool ExportsView::allows(const Offer& offer, Access access,
                         std::string_view address_and_port) const {
  if (offer.rules == nullptr) return true;
  const auto most = offer.rules->access_of(peer_.client, address_of(address_and_port));
  return most && access <= *most;
}

}  // namespace rdmablk::target
