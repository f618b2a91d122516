#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/auth/key.h"
#include "common/protocol/messages.h"
#include "target/client_keys.h"

namespace rdmablk::target {

/// A session's part in finding out who its initiator is: once, from the answer to HELLO to
/// AUTHENTICATE.
class Authenticator {
 public:
  /// @param keys outlives this, and may change while it lives; null: nobody is asked.
  explicit Authenticator(const ClientKeys* keys) noexcept : keys_(keys) {}

  bool is_needed() const noexcept { return keys_ != nullptr; }

  /// Puts into the answer to HELLO what is asked for, with a nonce that is used for this session
  /// and no other, and remembers both. Nothing else may change in the answer. Throws Error.
  /// @param hello its payload as it came.
  void begin(std::span<const std::byte> hello, protocol::HelloReply& reply);

  struct Proved {
    auth::Key session_key;
    protocol::AuthenticateReply reply;
  };

  /// Looks at the proof. Once, after begin(). Throws Error.
  /// @return nothing when it is not that of the client.
  std::optional<Proved> check(const protocol::Authenticate& request);

  /// Whether there is a client of that name, for the log alone.
  bool knows(const std::string& client) const { return keys_->has(client); }

 private:
  const ClientKeys* keys_;
  std::vector<std::byte> hello_;
  std::vector<std::byte> hello_reply_;
};

}  // namespace rdmablk::target
