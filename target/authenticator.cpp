#include "target/authenticator.h"

#include <utility>

#include "common/protocol/wire.h"
#include "common/random.h"

namespace rdmablk::target {

void Authenticator::begin(std::span<const std::byte> hello, protocol::HelloReply& reply) {
  if (!is_needed()) return;
  reply.authentication = protocol::Authentication::pre_shared_key;
  reply.nonce = random_bytes<protocol::Token>();
  hello_.assign(hello.begin(), hello.end());
  hello_reply_.resize(protocol::kMaxMessage);
  protocol::WireWriter writer(hello_reply_);
  reply.encode(writer);
  hello_reply_.resize(writer.size());
}

std::optional<Authenticator::Proved> Authenticator::check(const protocol::Authenticate& request) {
  const auth::Handshake handshake(std::exchange(hello_, {}), std::exchange(hello_reply_, {}),
                                  request.client, request.nonce);
  const auto key = keys_->match(request.client, handshake, request.proof);
  if (!key) return std::nullopt;
  return Proved{handshake.session_key(*key), {handshake.target_proof(*key)}};
}

}  // namespace rdmablk::target
