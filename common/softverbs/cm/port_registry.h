#pragma once

#include <rdma/rdma_cma.h>

#include "common/softverbs/cm/port_mark.h"
#include "common/softverbs/cm/socket_address.h"
#include "common/softverbs/file_descriptor.h"

namespace softverbs::cm {

/// Who holds which port of a port space, one register for each network namespace.
///
/// A held port is an abstract UNIX socket whose name says port space, port, address and options,
/// so the kernel keeps the register, and it forgets a process that dies:
///
///     softverbs/cm/<port space>/<port>/B/<options>/<address>[/<process>-<number>]   bound
///     softverbs/cm/<port space>/<port>/L/<options>/<address>                        listening
///
/// Options are two letters: 'r' where the address may be reused and 'o' where the id is for one
/// address family only (RDMA_OPTION_ID_REUSEADDR, RDMA_OPTION_ID_AFONLY), else '-'. Names of ids
/// that may be reused carry process and number, so that several can exist.
///
/// To find out who else holds a port one reads the names of all sockets there are, which takes the
/// longer the more there are. Ids that only connect come in great numbers, and do without: each
/// holds its port alone, on all addresses, and takes none that has a PortMark. All others mark
/// theirs.
struct PortClaim {
  rdma_port_space port_space = RDMA_PS_TCP;
  SocketAddress address;  ///< with the port; 0 asks for any free one
  bool reuse = false;
  bool one_family = false;
};

/// Binds a port, as rdma_bind_addr(3). The rules of conflict are the kernel's: the same address
/// twice is EADDRINUSE, a wildcard beside anything on the port is EADDRNOTAVAIL.
/// @param claim its port is filled in where it was 0.
/// @param socket becomes the socket that holds the port; it can be connected.
/// @param mark set on the port, and to be kept as long as the port.
/// @return 0 or a negative errno value (-EACCES: a port below 1024 without the privilege).
int bind_port(PortClaim& claim, FileDescriptor& socket, PortMark& mark);

/// Binds any free port for an id that is about to connect, in a time that does not depend on how
/// many ports are held.
/// @param claim its port is filled in.
/// @param socket as of bind_port().
/// @return 0 or a negative errno value.
int bind_port_to_connect(PortClaim& claim, FileDescriptor& socket);

/// Turns a bound port into a listening one.
/// @param socket the one that was bound; replaced by the listening socket.
/// @param mark as of bind_port(); set if it was not.
/// @return 0 or a negative errno value.
int listen_on_port(const PortClaim& claim, FileDescriptor& socket, PortMark& mark);

/// Connects a bound socket to whoever listens for `destination`: the exact address goes before
/// the wildcard.
/// @return 0, -ECONNREFUSED when nobody listens, or another negative errno value.
int connect_to_port(int socket, rdma_port_space port_space, const SocketAddress& destination);

}  // namespace softverbs::cm
