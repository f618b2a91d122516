#pragma once

#include <cstdint>

#include "common/softverbs/verbs/memory_copy.h"
#include "common/softverbs/verbs/peer.h"

namespace softverbs {

/// A requester's end of a connection: what the responder's queue pair must agree with.
struct Route {
  uint32_t dest_qpn = 0;
  uint32_t source_qpn = 0;
  uint32_t psn = 0;        ///< The first of the requester.
  uint64_t token = 0;      ///< Of the requester's process.
  uint32_t dest_port = 0;  ///< Of the responder's queue pair.
};

/// The responder's side of a READ or WRITE.
struct RemoteRange {
  uint32_t rkey = 0;
  uint64_t address = 0;
  uint32_t length = 0;
};

enum class Access { kDone, kNotReady, kGone, kInvalid, kRefusedKey, kRefusedCopy, kFault };

/// Does a READ or WRITE in the responder's memory as far as its queue pair and its regions allow.
/// It holds the queue pair's busy word meanwhile, so only the queue pair's one requester, or what
/// is left of it on the network, may call it. \param reads  from the peer into `local`, or the
/// other way
Access access_directly(Peer& peer, const Route& route, const RemoteRange& remote,
                       const PieceList& local, bool reads);

}  // namespace softverbs
