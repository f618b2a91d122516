#pragma once

#include <string>

#include "initiator/copy/endpoint.h"
#include "initiator/copy/piece_worker.h"
#include "initiator/copy/transfer.h"

namespace rdmablk::copy {

/// Why a copy failed: "cannot write 4096 bytes at offset 0 of DST: No space left on device".
std::string failure_text(const Failure& failure, const Endpoint& source,
                         const Endpoint& destination, const TransferRange& range);

/// What is known of an end's connection when that is lost, as the end of a sentence; else empty.
std::string loss_of(const Endpoint& end);

}  // namespace rdmablk::copy
