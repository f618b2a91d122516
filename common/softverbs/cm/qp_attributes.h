#pragma once

#include "common/softverbs/cm/id.h"

namespace softverbs::cm {

/// Attributes that take a queue pair of this id to `attr.qp_state` (INIT, RTR or RTS), as
/// rdma_init_qp_attr(3). Needs the process's lock.
/// @return 0, or -EINVAL when the handshake has not come that far.
int fill_qp_attributes(const Id& id, ibv_qp_attr& attr, int& mask);

/// Moves id.qp through INIT and RTR to RTS. Without the lock, by the id's user.
/// @param responder_resources,initiator_depth RDMA_MAX_RESP_RES, RDMA_MAX_INIT_DEPTH take what the
///   handshake agreed on.
/// @return 0 or a negative errno value.
int connect_qp(Id& id, uint8_t responder_resources, uint8_t initiator_depth);

/// Moves id.qp to ERR; an id without one is no error. Without the lock, by the id's user.
int fail_qp(Id& id);

/// Moves a fresh queue pair to INIT. Without the lock.
int initialize_qp(Id& id, ibv_qp& qp);

}  // namespace softverbs::cm
