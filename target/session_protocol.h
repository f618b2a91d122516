#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

#include "common/protocol/features.h"
#include "common/protocol/header.h"
#include "common/protocol/messages.h"
#include "common/protocol/private_data.h"
#include "target/attachments.h"
#include "target/authenticator.h"
#include "target/catalog.h"
#include "target/exports_view.h"
#include "target/limits.h"
#include "target/session_events.h"
#include "target/session_peer.h"
#include "target/step.h"

namespace rdmablk::target {

/// A session's side of the conversation on its admin queue, without any transport: messages go in,
/// what to do comes out. It trusts nothing that it is fed. After a step that says `over`, and after
/// abandon(), it answers nothing more.
class SessionProtocol {
 public:
  /// @param id of the session; not zero.
  /// @param target the target's instance id.
  /// @param catalog the exports of its device; outlives this, as `limits` does.
  /// @param address of the peer, "address:port"; rules of exports go by it.
  /// @param budgets see Attachments.
  /// @param keys of the clients, which outlive this and may change; null: nobody is asked.
  SessionProtocol(std::uint32_t id, const protocol::InstanceId& target, const Catalog& catalog,
                  const Limits& limits, std::string address = {}, ClientBudgets* budgets = nullptr,
                  const ClientKeys* keys = nullptr);
  SessionProtocol(const SessionProtocol&) = delete;
  SessionProtocol& operator=(const SessionProtocol&) = delete;

  /// Handles a message. Throws Error when random numbers cannot be had.
  Step handle(const protocol::Message& message);

  /// Behind a step with `joins`: who it is is known, and its greeting waits until nothing is left
  /// of the session that it resumes, if there is one: see peer(). Now nothing is. Once.
  Step join();

  /// In place of join(): it cannot be let in, and the session is over.
  Step refuse_join(protocol::Status status, const std::string& reason);

  /// Behind a step with `waits`, until one answers it or is over: the lease may be free. Throws
  /// Error when random numbers cannot be had.
  Step retry_attach(std::uint64_t ticket);

  /// The same: it has waited long enough.
  Step give_up_attach(std::uint64_t ticket);

  /// Behind a step with `registers`: the export is registered. @return the answer, or what the
  /// ATTACH waits for next. Throws Error when random numbers cannot be had.
  Step go_on_attaching(std::uint64_t ticket);

  /// In place of that, and of the two above: it is refused.
  Step refuse_attach(std::uint64_t ticket, protocol::Status status, const std::string& reason);

  /// Behind a step with `asks`. @param device that the queue is connected over; null: it is not.
  Step answer_table(const TableQuestion& question, ibv_context* device);

  /// Whether its I/O queues may come over other devices than its own.
  bool takes_paths() const noexcept { return peer_.features.has(protocol::Feature::paths); }

  /// Ends an attachment from this side; its I/O queues are to be destroyed. Its initiator meets
  /// `no_attachment` from here on. @param reason see Attachments::end(). @return whether there was
  /// one.
  bool end_attachment(std::uint64_t attachment, const std::string& reason = {}) {
    return attachments_.end(attachment, reason);
  }

  /// The same for all of an export that goes away; see Attachments::end_all().
  Attachments::Ending end_export(std::string_view name, const std::string& reason);

  /// The same for those of an export that its rules do not allow any more.
  Attachments::Ending end_disallowed(std::string_view name, const std::string& reason);

  /// See Attachments::absence().
  protocol::QueueRefusal absence(std::uint64_t attachment) const {
    return attachments_.absence(attachment);
  }

  /// Ends all of them, as the session ends.
  void end_attachments() noexcept { attachments_.clear(); }

  /// Decides on a request to connect an I/O queue of an attachment of this session: see
  /// Attachment::admit().
  /// @param from where it comes, "address:port".
  /// @return its attachment, or why it is refused. Throws Error.
  std::variant<const Attachment*, protocol::QueueRefusal> admit(
      const protocol::QueueRequest& request, std::string_view from);

  /// An export was resized, and offers say so already.
  /// @return the notice to send; nothing when there is nobody to tell, or it has to wait: it is in
  /// a later step then.
  std::optional<Outgoing> announce_size(std::string_view name);

  /// Whether its initiator takes notice of that.
  bool takes_sizes() const noexcept { return peer_.features.has(protocol::Feature::resize); }

  /// Whether there is anybody to say goodbye to.
  bool is_ready() const noexcept { return state_ == State::ready; }

  /// The target is about to end: nothing more can be attached.
  /// @return the notice to send; nothing when the peer is no session's peer yet, or not any more,
  /// or it has to wait as above.
  std::optional<Outgoing> say_goodbye();

  /// Ends the conversation from this side.
  /// @return the last word to send.
  Outgoing abandon(protocol::Status status, const std::string& reason);

  const std::map<std::uint64_t, Attachment>& attachments() const noexcept {
    return attachments_.all();
  }

  /// Who it is with; complete when it joins.
  const SessionPeer& peer() const noexcept { return peer_; }

  /// Whether it is known who it is, and nothing has ended yet.
  bool is_known() const noexcept { return state_ == State::joining || is_open(); }

 private:
  enum class State { awaiting_hello, awaiting_authentication, joining, ready, leaving, over };

  bool is_open() const noexcept { return state_ == State::ready || state_ == State::leaving; }

  std::optional<Step> refuse_early(const protocol::Message& message);
  Step request(const protocol::Message& message);
  Step hello(const protocol::Message& message);
  Step authenticate(const protocol::Message& message);
  Step list(const protocol::Message& message);
  Step begin_joining(Outgoing greeting);
  Step attach(const protocol::Message& message);
  Step detach(const protocol::Message& message);
  Step keepalive(const protocol::Message& message);
  Step table(const protocol::Message& message);
  Step peer_error(const protocol::Message& message);
  Step reply(const protocol::Message& message);
  std::optional<Outgoing> next_event();
  Step end(protocol::Status status, const std::string& reason);
  Step malformed(const std::string& reason);
  std::optional<Step> refuse_attach(const protocol::Message& message,
                                    const protocol::Attach& request, const Offer* offer) const;

  std::uint32_t id_;
  protocol::InstanceId target_;
  const Limits& limits_;
  State state_ = State::awaiting_hello;
  SessionEvents events_;
  SessionPeer peer_;
  ExportsView view_;
  Authenticator authenticator_;
  std::optional<auth::Key> session_key_;
  std::optional<Outgoing> greeting_;  ///< while it joins: what it is answered then
  Attachments attachments_;
};

/// The session that an attachment belongs to: its number is the upper half of the attachment's.
constexpr std::uint32_t session_of(std::uint64_t attachment) {
  return static_cast<std::uint32_t>(attachment >> 32);
}

/// The first and last number that an attachment of a session may have.
constexpr std::uint64_t first_attachment_of(std::uint32_t session) {
  return std::uint64_t{session} << 32U;
}
constexpr std::uint64_t last_attachment_of(std::uint32_t session) {
  return first_attachment_of(session) | UINT32_MAX;
}

}  // namespace rdmablk::target
