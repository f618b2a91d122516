#include "common/softverbs/cm/address_resolution.h"

#include <cerrno>

#include "common/softverbs/file_descriptor.h"

namespace softverbs::cm {
namespace {

// A datagram socket that is connected sends nothing, but the kernel routes it: that refuses
// broadcast addresses and chooses the source.
int route(const SocketAddress& destination, SocketAddress& source) {
  const FileDescriptor probe(::socket(destination.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!probe) return -errno;
  SocketAddress target = destination;
  target.set_port(9);
  if (::connect(probe.get(), target.get(), target.size()) != 0) {
    return errno == EACCES ? -EINVAL : -errno;
  }
  sockaddr_storage name{};
  socklen_t length = sizeof(name);
  auto* generic = reinterpret_cast<sockaddr*>(&name);
  if (::getsockname(probe.get(), generic, &length) != 0) return -errno;
  source = *SocketAddress::from(generic);
  return 0;
}

bool can_bind(const SocketAddress& address) {
  const FileDescriptor probe(::socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  SocketAddress any_port = address;
  any_port.set_port(0);
  return probe && ::bind(probe.get(), any_port.get(), any_port.size()) == 0;
}

}  // namespace

bool is_local_address(const SocketAddress& address) {
  if (address.is_wildcard() || address.is_multicast()) return false;
  SocketAddress ignored;
  return can_bind(address) && route(address, ignored) == 0;
}

int resolve_address(const SocketAddress& source, const SocketAddress& destination,
                    ResolvedAddress& resolved) {
  SocketAddress target = destination;
  if (target.is_wildcard()) {
    target = SocketAddress::loopback(destination.family());
    target.set_port(destination.port());
  }
  if (target.is_multicast()) return -EINVAL;
  SocketAddress chosen;
  if (const int error = route(target, chosen); error != 0) return error;
  if (!can_bind(target)) return -EHOSTUNREACH;
  if (target.is_loopback4()) chosen = target;
  resolved.source = source.is_wildcard() ? chosen : source;
  resolved.source.set_port(source.port());
  resolved.destination = target;
  return 0;
}

}  // namespace softverbs::cm
