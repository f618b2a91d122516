#include "common/auth/handshake.h"

#include <openssl/crypto.h>

#include "common/auth/hmac.h"
#include "common/auth/label.h"
#include "common/protocol/wire.h"

namespace rdmablk::auth {
namespace {

constexpr std::size_t kNameField = 64;

}  // namespace

Handshake::Handshake(std::span<const std::byte> hello, std::span<const std::byte> hello_reply,
                     std::string_view client, const protocol::Token& nonce)
    : transcript_(hello.size() + hello_reply.size() + kNameField + nonce.size()) {
  // Every field has a fixed size: one transcript can be read in one way only.
  protocol::WireWriter writer(transcript_);
  writer.put(hello);
  writer.put(hello_reply);
  writer.put_text(client, kNameField);
  writer.put(std::span<const std::byte>(nonce));
}

protocol::Token Handshake::client_proof(const Key& key) const {
  return hmac_sha256(key.bytes(), {label("rdmablk 1 client proof"), transcript_});
}

protocol::Token Handshake::target_proof(const Key& key) const {
  return hmac_sha256(key.bytes(), {label("rdmablk 1 target proof"), transcript_});
}

Key Handshake::session_key(const Key& key) const {
  Digest digest = hmac_sha256(key.bytes(), {label("rdmablk 1 session key"), transcript_});
  const Key made(digest);
  OPENSSL_cleanse(digest.data(), digest.size());
  return made;
}

}  // namespace rdmablk::auth
