#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "common/auth/handshake.h"
#include "common/protocol/message_channel.h"

namespace rdmablk::fuzz {

/// Follows the beginning of an initiator's session from the target's end, and finds out when the
/// initiator trusts a target that it must not, or tells it too much.
class GreetingWitness {
 public:
  /// @param has_key whether the initiator has the first client's key.
  explicit GreetingWitness(bool has_key) noexcept : has_key_(has_key) {}

  /// The initiator has sent a message.
  void on_sent(const protocol::Message& message);

  /// It is delivered one, or what is none.
  void on_delivered(std::span<const std::byte> bytes);

  /// It asks to connect.
  void on_connect(std::span<const std::byte> private_data) const;

  /// It takes the session for open.
  void on_open() const;

  /// An answer to AUTHENTICATE. @param wrong how; 0: not at all.
  protocol::AuthenticateReply proof(unsigned wrong) const;

 private:
  void check_proof(const protocol::Authenticate& request);

  bool has_key_;
  std::optional<std::uint64_t> asked_;  ///< the tag of the request that it waits for an answer to
  std::vector<std::byte> hello_;
  std::vector<std::byte> hello_reply_;
  bool is_asked_ = false;  ///< for a proof
  std::optional<auth::Handshake> handshake_;
  bool has_proof_ = false;  ///< the target's
  bool has_left_ = false;   ///< the conversation, with a reason
};

}  // namespace rdmablk::fuzz
