#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "common/protocol/messages.h"
#include "target/catalog.h"
#include "target/session_peer.h"

namespace rdmablk::target {

/// What one session's initiator may see of a catalog. What it may not have is not there for it.
class ExportsView {
 public:
  /// Both outlive this; the peer may become known later.
  ExportsView(const Catalog& catalog, const SessionPeer& peer) noexcept
      : catalog_(catalog), peer_(peer) {}

  /// The offer of that name; null when there is none for this initiator.
  const Offer* find(std::string_view name) const;

  /// Whether an export of that name was there for this initiator, and is being removed.
  bool is_leaving(std::string_view name) const;

  /// Whether it may write to an export that is there for it.
  bool may_write(const Offer& offer) const;

  /// One page, as Catalog::page(). What it may not write is shown as read-only.
  protocol::ListReply page(std::string_view after) const;

  /// As Catalog::names().
  std::string names() const;

  /// Whether somebody at an address may have an access, for I/O queues, which come from anywhere.
  /// @param address_and_port of the peer.
  bool allows(const Offer& offer, protocol::Access access, std::string_view address_and_port) const;

 private:
  std::optional<protocol::Access> access_to(const Offer& offer) const;

  const Catalog& catalog_;
  const SessionPeer& peer_;
};

}  // namespace rdmablk::target
