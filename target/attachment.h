#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <optional>

#include "common/protocol/messages.h"
#include "common/protocol/private_data.h"
#include "target/catalog.h"
#include "target/limits.h"
#include "target/store_use.h"

namespace rdmablk::target {

/// One session's use of one export with one access, and which of its I/O queues are connected.
class Attachment {
 public:
  /// Grants what is asked for, cut to the limits. The token and the nonce are random.
  /// @param id the same on no two attachments of a target.
  /// @param offer outlives the attachment; has a grant for the access that is asked for.
  /// @param use of the export's file, when the target's CPU is to work on its requests.
  Attachment(std::uint64_t id, const Offer& offer, const protocol::Attach& request,
             const Limits& limits, std::shared_ptr<StoreUse> use = nullptr);

  /// What the initiator is told, its secret token included.
  const protocol::AttachReply& reply() const noexcept { return reply_; }

  std::uint64_t id() const noexcept { return reply_.attachment; }
  const Offer& offer() const noexcept { return *offer_; }

  /// Null when its I/O queues are served one-sided.
  const std::shared_ptr<StoreUse>& use() const noexcept { return use_; }

  /// The protection domain and table that it is entitled to.
  const Grant& grant() const { return offer_->grant(reply_.access); }

  /// Decides on a request to connect an I/O queue. When it is granted, the queue counts as
  /// connected until release().
  /// @return why it is refused; nothing when it is granted.
  std::optional<protocol::QueueRefusal> admit(const protocol::QueueRequest& request);

  /// The connection of an admitted queue is gone.
  void release(std::uint16_t queue) noexcept { connected_.reset(queue); }

 private:
  bool proves(const protocol::QueueRequest& request) const noexcept;

  const Offer* offer_;
  protocol::AttachReply reply_;
  std::shared_ptr<StoreUse> use_;
  std::bitset<kMaxQueues> connected_;
};

}  // namespace rdmablk::target
