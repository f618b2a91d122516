#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "common/auth/key.h"
#include "common/protocol/messages.h"
#include "common/protocol/private_data.h"
#include "common/protocol/use_report.h"
#include "target/attachment.h"
#include "target/client_budgets.h"
#include "target/limits.h"
#include "target/session_peer.h"
#include "target/step.h"

namespace rdmablk::target {

/// The reason for Attachments::end() when another takes the lease over. @param taker for people.
std::string taken_over_by(const std::string& taker);

/// The attachments of one session, and its requests for some that wait for a lease.
class Attachments {
 public:
  /// @param session its number. @param budgets see grant_store(); may be null. @param session_key
  /// nothing without authentication; set before the first ATTACH. All but the number outlive this.
  Attachments(std::uint32_t session, const Limits& limits, const SessionPeer& peer,
              ClientBudgets* budgets, const std::optional<auth::Key>& session_key)
      : session_(session),
        limits_(limits),
        peer_(peer),
        budgets_(budgets),
        session_key_(session_key) {}

  /// Decides on an ATTACH whose export is there and gives the access that is asked for.
  /// @return the answer; without one the request waits, as `waits` says, until retry() or
  /// give_up(). Throws Error when random numbers cannot be had.
  Step attach(std::uint64_t tag, const protocol::Attach& request, const Offer& offer);

  /// The lease that a request waits for may be free. @return the answer, or nothing when it waits
  /// on; `fences` may be set either way.
  Step retry(std::uint64_t ticket);

  /// The export that a request waits for is registered. @return the answer, or what it waits for
  /// next.
  Step go_on(std::uint64_t ticket);

  /// A request has waited long enough for its lease. @return the refusal; nothing when it waits no
  /// more.
  Step give_up(std::uint64_t ticket);

  /// A request waits in vain. @return the refusal; nothing when it waits no more.
  Step refuse(std::uint64_t ticket, protocol::Status status, const std::string& reason);

  /// Ends one; its lease is free when its queues are gone.
  /// @param reason what its queues are told that come later, for people; empty: that there is no
  /// such attachment. @return whether there was one.
  bool end(std::uint64_t attachment, const std::string& reason = {});

  /// What an export's end, or the end of the right to it, means.
  struct Answer {
    std::uint64_t ticket = 0;
    Step step;
  };
  struct Ending {
    std::vector<std::uint64_t> attachments;  ///< have ended
    std::vector<Answer> answers;             ///< to requests that waited
  };

  /// Whether an attachment with an access to an export is to end.
  using Concerns = std::function<bool(const Offer&, protocol::Access)>;

  /// Ends those that it concerns, and refuses the requests for such ones that wait.
  /// @param reason for people.
  Ending end_all(const Concerns& concerns, protocol::Status status, const std::string& reason);

  /// The answer to a queue of one that is not there any more.
  protocol::QueueRefusal absence(std::uint64_t attachment) const;

  /// Ends all, and forgets the requests that wait.
  void clear() noexcept;

  /// Takes what the initiator says that it has done; attachments that there are not, or no more,
  /// are left out.
  std::vector<ReportedUse> take(const protocol::UseReport& report);

  std::size_t size() const noexcept { return attachments_.size(); }

  /// By their numbers.
  const std::map<std::uint64_t, Attachment>& all() const noexcept { return attachments_; }

  /// Those of an export, by their numbers.
  std::vector<std::uint64_t> of_export(std::string_view name) const;

  /// The attachment of that number; null when there is none (any more).
  Attachment* find(std::uint64_t attachment);

  /// See Attachment::admit().
  std::variant<const Attachment*, protocol::QueueRefusal> admit(
      const protocol::QueueRequest& request);

 private:
  struct Wanted {
    std::uint64_t tag = 0;
    protocol::Attach request;
    const Offer* offer = nullptr;
  };

  /// An attachment that was ended from this side: who proves to be of it is told why.
  struct Ended {
    QueueCredential credential;
    std::string reason;
  };

  std::optional<Step> decide(Wanted wanted);
  static Step wait(std::uint64_t ticket, const Wanted& wanted);
  std::optional<Step> refuse_content(const Wanted& wanted) const;
  Step grant(Wanted wanted);
  std::shared_ptr<LeaseHold> take_lease(const Wanted& wanted, std::uint64_t attachment) const;

  std::uint32_t session_;
  const Limits& limits_;
  const SessionPeer& peer_;
  ClientBudgets* budgets_;
  const std::optional<auth::Key>& session_key_;
  std::uint32_t last_attachment_ = 0;
  std::uint64_t last_ticket_ = 0;
  std::map<std::uint64_t, Attachment> attachments_;
  std::map<std::uint64_t, Wanted> waiting_;
  std::map<std::uint64_t, Ended> ended_;  ///< the last ones
};

}  // namespace rdmablk::target
