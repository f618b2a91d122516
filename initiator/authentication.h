#pragma once

#include <optional>
#include <string>

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

}  // namespace rdmablk::initiator
