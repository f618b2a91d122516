#pragma once

#include <cstddef>
#include <span>
#include <string_view>
#include <vector>

#include "common/auth/key.h"
#include "common/protocol/messages.h"

namespace rdmablk::auth {

/// What both ends of a session have said up to AUTHENTICATE, and the proofs over it. Each end makes
/// its own from what it sent and received; they agree only when nothing was changed on the way, and
/// as both have put a nonce into it, no two sessions have the same. `docs/protocol.md` has the
/// bytes.
class Handshake {
 public:
  /// @param hello and @param hello_reply the payloads as they travelled, reserved fields included.
  /// @param client its name. @param nonce the initiator's, from AUTHENTICATE.
  Handshake(std::span<const std::byte> hello, std::span<const std::byte> hello_reply,
            std::string_view client, const protocol::Token& nonce);

  /// That the initiator has the key; sent in AUTHENTICATE. Throws Error.
  protocol::Token client_proof(const Key& key) const;

  /// That the target has it, too; sent in the reply. Throws Error.
  protocol::Token target_proof(const Key& key) const;

  /// The key of this session, which proves its I/O queues and is never sent. Throws Error.
  Key session_key(const Key& key) const;

 private:
  std::vector<std::byte> transcript_;
};

}  // namespace rdmablk::auth
