#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>

#include "common/auth/key.h"
#include "common/protocol/messages.h"
#include "common/protocol/private_data.h"
#include "common/protocol/use_report.h"
#include "target/catalog.h"
#include "target/edition.h"
#include "target/export_use.h"
#include "target/lease.h"
#include "target/limits.h"
#include "target/store_use.h"

namespace rdmablk::target {

/// The answer to whoever asks for an I/O queue of an attachment that is not there, or without its
/// proof: alike, so that strangers cannot tell which there are.
protocol::QueueRefusal refuse_unproved();

/// What an I/O queue proves with that it is of an attachment.
struct QueueCredential {
  const auth::Key* session_key;  ///< null: with the token
  protocol::Token token;
  protocol::Nonce nonce;

  /// Whether a request to connect has the proof.
  bool fits(const protocol::QueueRequest& request) const;
};

/// One session's use of one export with one access, and which connection of each of its I/O queues
/// is the latest.
class Attachment {
 public:
  /// Grants what is asked for, cut to the limits. The token and the nonce are random.
  /// @param id the same on no two attachments of a target.
  /// @param offer outlives the attachment; has a grant for the access that is asked for.
  /// @param use of the export's file, when the target's CPU is to work on its requests.
  /// @param lease that it holds, if it needs one.
  /// @param session_key what its I/O queues are proved with; outlives the attachment. Null: with a
  /// token.
  Attachment(std::uint64_t id, const Offer& offer, const protocol::Attach& request,
             const Limits& limits, std::shared_ptr<StoreUse> use = nullptr,
             std::shared_ptr<LeaseHold> lease = nullptr, const auth::Key* session_key = nullptr);

  /// The lease stays held until its queues are gone, too.
  ~Attachment();
  Attachment(Attachment&&) noexcept = default;
  Attachment& operator=(Attachment&&) = delete;

  /// What the initiator is told, its secret token included. With a session key there is none, as
  /// everybody on the way can read it.
  const protocol::AttachReply& reply() const noexcept { return reply_; }

  std::uint64_t id() const noexcept { return reply_.attachment; }
  const Offer& offer() const noexcept { return *offer_; }

  /// What its initiator knows of the export's size; null when that does not change.
  const std::shared_ptr<EditionUse>& edition() const noexcept { return edition_; }

  /// @return what to tell its initiator of the size that the export has by now; nothing when it
  /// knows. edition() has to be acknowledged before the next call.
  std::optional<protocol::EventNotice> announce();

  /// Where a table that its initiator knows, or has been told of, lies on a device; nothing when
  /// there is none of that number there.
  std::optional<protocol::ChunkTable> table(std::uint64_t number, ibv_context* device) const;

  /// For one of its I/O queues, which may outlive it.
  ExportUse::Hold hold_export() const noexcept;

  /// Null when its I/O queues are served one-sided.
  const std::shared_ptr<StoreUse>& use() const noexcept { return use_; }

  /// Null when it holds none.
  const std::shared_ptr<LeaseHold>& lease() const noexcept { return lease_; }

  QueueCredential credential() const { return {session_key_, reply_.token, reply_.nonce}; }

  /// The protection domain and table that it is entitled to.
  const Grant& grant() const { return offer_->grant(reply_.access); }

  /// What its initiator says that it has done with it. Nothing of it need be true.
  const protocol::Use& reported() const noexcept { return reported_; }

  /// Takes the next report of it. @return what has come since the last one.
  protocol::Use report(const protocol::Use& total) noexcept {
    return total.since(std::exchange(reported_, total));
  }

  /// Decides on a request to connect an I/O queue: the first connection of each has the
  /// attachment's epoch or a higher one, each later one a higher one than all before.
  /// An epoch that was granted is spent, whatever becomes of the connection: others on the way have
  /// seen its proof.
  /// @return why it is refused; nothing when it is granted. Throws Error.
  std::optional<protocol::QueueRefusal> admit(const protocol::QueueRequest& request);

 private:
  const Offer* offer_;
  ExportUse::Hold hold_;
  std::shared_ptr<EditionUse> edition_;
  protocol::AttachReply reply_;
  std::shared_ptr<StoreUse> use_;
  std::shared_ptr<LeaseHold> lease_;
  const auth::Key* session_key_;
  protocol::Use reported_;
  std::array<std::uint32_t, kMaxQueues> epochs_{};  ///< the last that was granted; 0: none was
};

}  // namespace rdmablk::target
