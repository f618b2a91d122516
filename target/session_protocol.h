#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>

#include "common/protocol/header.h"
#include "common/protocol/messages.h"
#include "common/protocol/private_data.h"
#include "target/attachment.h"
#include "target/catalog.h"
#include "target/limits.h"
#include "target/outgoing.h"

namespace rdmablk::target {

/// What has to be done after a message, in this order.
struct Step {
  std::optional<std::uint64_t> detached;  ///< destroy the I/O queues of this attachment
  std::optional<Outgoing> send;
  const Attachment* attached = nullptr;  ///< is new; valid until it is detached
  bool greeted = false;                  ///< HELLO was accepted
  bool acknowledged = false;             ///< the peer knows that the target is about to end
  std::optional<std::string> over;       ///< end the session; why
};

/// A session's side of the conversation on its admin queue, without any transport: messages go in,
/// what to do comes out. It trusts nothing that it is fed. After a step that says `over`, and after
/// abandon(), it answers nothing more.
class SessionProtocol {
 public:
  /// @param id of the session; not zero.
  /// @param target the target's instance id.
  /// @param catalog the exports of its device; outlives this, as `limits` does.
  SessionProtocol(std::uint32_t id, const protocol::InstanceId& target, const Catalog& catalog,
                  const Limits& limits);

  /// Handles a message. Throws Error when random numbers cannot be had.
  Step handle(const protocol::Message& message);

  /// Decides on a request to connect an I/O queue of an attachment of this session; a queue that is
  /// admitted counts as connected until release().
  /// @return its attachment, or why it is refused.
  std::variant<const Attachment*, protocol::QueueRefusal> admit(
      const protocol::QueueRequest& request);

  /// The connection of an admitted queue is gone. Does nothing when the attachment is, too.
  void release(std::uint64_t attachment, std::uint16_t queue) noexcept;

  /// The target is about to end: nothing more can be attached.
  /// @return the notice to send; nothing when the peer is no session's peer yet, or not any more.
  std::optional<Outgoing> say_goodbye();

  /// Ends the conversation from this side.
  /// @return the last word to send.
  Outgoing abandon(protocol::Status status, const std::string& reason);

  bool awaits_hello() const noexcept { return state_ == State::awaiting_hello; }

 private:
  enum class State { awaiting_hello, ready, leaving, over };

  Step request(const protocol::Message& message);
  Step hello(const protocol::Message& message);
  Step list(const protocol::Message& message);
  Step attach(const protocol::Message& message);
  Step detach(const protocol::Message& message);
  Step peer_error(const protocol::Message& message);
  Step reply(const protocol::Message& message);
  Step malformed(const std::string& reason);
  std::optional<Step> refuse_attach(const protocol::Message& message,
                                    const protocol::Attach& request, const Offer* offer) const;

  std::uint32_t id_;
  protocol::InstanceId target_;
  const Catalog& catalog_;
  const Limits& limits_;
  State state_ = State::awaiting_hello;
  bool event_outstanding_ = false;
  std::uint32_t last_attachment_ = 0;
  std::map<std::uint64_t, Attachment> attachments_;
};

/// The session that an attachment belongs to: its number is the upper half of the attachment's.
constexpr std::uint32_t session_of(std::uint64_t attachment) {
  return static_cast<std::uint32_t>(attachment >> 32);
}

}  // namespace rdmablk::target
