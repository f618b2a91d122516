#pragma once

#include "common/softverbs/cm/socket_address.h"

namespace softverbs::cm {

/// Whether `address` is one of this host's own unicast addresses (of this network namespace).
bool is_local_address(const SocketAddress& address);

/// Where a connection goes and where it comes from.
struct ResolvedAddress {
  SocketAddress source;       ///< its port is the caller's
  SocketAddress destination;  ///< a wildcard became the loopback address
};

/// Resolves what rdma_resolve_addr(3) was given. The software device reaches this host alone, so
/// a destination elsewhere is unreachable, whatever the routing table says of it.
/// @param source the bound address; a wildcard lets the routing table choose. That has one source
/// for
///   all of 127.0.0.0/8, where each device has an address: of those the destination is the source,
///   so that a device is reached from itself, as over a cable of its own.
/// @return 0, or -ENETUNREACH (no route), -EHOSTUNREACH (not this host), -EINVAL (no unicast).
int resolve_address(const SocketAddress& source, const SocketAddress& destination,
                    ResolvedAddress& resolved);

}  // namespace softverbs::cm
