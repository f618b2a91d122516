#include "common/auth/queue_proof.h"

#include "common/auth/hmac.h"
#include "common/auth/label.h"

namespace rdmablk::auth {

protocol::Token queue_proof(const Key& session_key, const protocol::QueueRequest& request) {
  const auto bytes = request.encode();
  const auto covered = std::span(bytes).first(bytes.size() - request.proof.size());
  return hmac_sha256(session_key.bytes(), {label("rdmablk 1 queue proof"), covered});
}

}  // namespace rdmablk::auth
