#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "common/auth/handshake.h"
#include "common/auth/key.h"
#include "common/protocol/messages.h"
#include "initiator/admin_link.h"
#include "initiator/credentials.h"

namespace rdmablk::initiator {

/// What a new session begins with.
struct Greeting {
  protocol::HelloReply reply;
  std::optional<auth::Key> session_key;  ///< proves its I/O queues; nothing without authentication
};

/// Says HELLO, and with credentials both ends prove that they have the key. Throws Error when the
/// target does not want this initiator, cannot prove itself, asks for a proof that there is none
/// for, or asks for none although there is one: whoever has a key does not talk to just anybody.
/// @param doing for the error: "open a session with storage1". @param credentials null: none.
Greeting greet(AdminLink& admin, const std::string& doing, const protocol::Hello& hello,
               const Credentials* credentials, ControlLoop::Clock::time_point deadline);

/// Checks that a target asks for a proof when there is a key, and only then. Throws Error.
void check_greeting(const std::string& doing, const protocol::HelloReply& reply, bool has_key);

/// The initiator's side of a proof that both ends have the key, without any transport.
class MutualProof {
 public:
  /// @param hello and @param reply the payloads as they travelled. @param credentials outlive this.
  /// Throws Error.
  MutualProof(std::span<const std::byte> hello, std::span<const std::byte> reply,
              const Credentials& credentials);

  /// What to send. Throws Error.
  protocol::Authenticate request() const;

  /// Believes the target, or does not. Throws Error.
  /// @return the key of the session.
  auth::Key verify(const std::string& doing, const protocol::AuthenticateReply& reply) const;

 private:
  const Credentials& credentials_;
  protocol::Token nonce_;
  auth::Handshake handshake_;
};

}  // namespace rdmablk::initiator
