#pragma once

#include "common/auth/key.h"
#include "common/protocol/private_data.h"

namespace rdmablk::auth {

/// What an I/O queue carries in place of the token: it covers every other byte of the request's
/// private data, and so the queue's number, its epoch, the attachment and its nonce. Throws Error.
/// @param request its proof is not looked at.
protocol::Token queue_proof(const Key& session_key, const protocol::QueueRequest& request);

}  // namespace rdmablk::auth
