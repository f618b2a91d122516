#pragma once

#include <cstdint>

#include "common/cm/settings.h"
#include "common/cm/tcp/exchange.h"
#include "common/cm/tcp/port_place.h"
#include "common/verbs/queue_pair.h"

/// The states of a queue pair that nobody else connects, as ibv_modify_qp(3) wants them.
namespace rdmablk::cm::tcp {

/// RESET -> INIT: receives may be posted. Throws SystemError.
/// @param access of the peer to what is registered in the queue pair's protection domain: flags of
/// ibv_access_flags.
void initialize(verbs::QueuePair& qp, const PortPlace& place, const Settings& settings,
                unsigned access);

/// INIT -> RTR -> RTS: it receives, and sends. Throws SystemError, and Error when the two ends do
/// not fit.
/// @param own what the peer was told, or will be, of this end.
void connect(verbs::QueuePair& qp, const PortPlace& place, const Settings& settings,
             const Endpoint& own, const Endpoint& peer);

}  // namespace rdmablk::cm::tcp
