// Binding, resolving and listening.

#include <cerrno>

#include "common/softverbs/cm/api.h"
#include "common/softverbs/cm/event_calls.h"
#include "common/softverbs/cm/id.h"
#include "common/softverbs/cm/listener.h"

namespace softverbs::cm {
namespace {

// Needs the lock.
int bind_id(Id& id, const SocketAddress& address, bool to_connect = false) {
  if (id.state != IdState::kIdle) return -EINVAL;
  if (!address.is_wildcard() && !is_local_address(address)) return -ENODEV;
  if (!address.is_wildcard() && Process::get().devices.for_address(address) == nullptr) {
    return -ENODEV;
  }
  id.claim.address = address;
  const int error = to_connect && address.port() == 0
                        ? bind_port_to_connect(id.claim, id.socket)
                        : bind_port(id.claim, id.socket, id.port_mark);
  if (error != 0) return error;
  id.set_source(id.claim.address);
  id.state = IdState::kBound;
  return 0;
}

int bind_address(Id& id, const sockaddr* raw) {
  const auto address = SocketAddress::from(raw);
  if (!address) return fail(EINVAL);
  const Lock lock(Process::get().mutex);
  if (const int error = bind_id(id, *address); error != 0) return answer(error);
  id.publish_addresses();
  return 0;
}

void resolve_now(Id& id) {
  ResolvedAddress resolved;
  if (id.state != IdState::kAddressQuery) return;  // Its device is gone.
  int error = resolve_address(id.source, *id.destination, resolved);
  if (error == 0) error = id.set_source(resolved.source);
  if (error != 0) {
    id.state = IdState::kBound;
    id.post(RDMA_CM_EVENT_ADDR_ERROR, error);
    return;
  }
  id.destination = resolved.destination;
  id.state = IdState::kAddressResolved;
  id.post(RDMA_CM_EVENT_ADDR_RESOLVED);
}

int start_resolving(Id& id, const sockaddr* raw_source, const sockaddr* raw_destination) {
  const auto destination = SocketAddress::from(raw_destination);
  if (!destination) return fail(EINVAL);
  const Lock lock(Process::get().mutex);
  if (id.state == IdState::kIdle) {
    auto source = SocketAddress::from(raw_source);
    if (!source) source = SocketAddress::wildcard(destination->family());
    if (const int error = bind_id(id, *source, true); error != 0) return answer(error);
  }
  if (id.state != IdState::kBound || id.source.family() != destination->family()) {
    return fail(EINVAL);
  }
  id.state = IdState::kAddressQuery;
  id.destination = destination;
  destination->copy_to(id.route.addr.dst_storage);
  id.later(resolve_now);
  return 0;
}

int start_routing(Id& id) {
  const Lock lock(Process::get().mutex);
  if (id.state != IdState::kAddressResolved) return fail(EINVAL);
  id.state = IdState::kRouteQuery;
  id.later([](Id& self) {
    if (self.state != IdState::kRouteQuery) return;
    self.state = IdState::kRouteResolved;
    self.post(RDMA_CM_EVENT_ROUTE_RESOLVED);
  });
  return 0;
}

int listen(Id& id, int backlog) {
  const Lock lock(Process::get().mutex);
  if (id.state == IdState::kIdle) {
    if (const int error = bind_id(id, SocketAddress::wildcard(AF_INET)); error != 0) {
      return answer(error);
    }
  }
  if (id.state != IdState::kBound) return fail(EINVAL);
  if (const int error = start_listening(id, backlog); error != 0) return answer(error);
  id.publish_addresses();
  return 0;
}

}  // namespace
}  // namespace softverbs::cm

using namespace softverbs::cm;

SOFTVERBS_EXPORT int rdma_bind_addr(rdma_cm_id* id, sockaddr* addr) {
  return guarded([&] { return bind_address(Id::of(id), addr); });
}

SOFTVERBS_EXPORT int rdma_resolve_addr(rdma_cm_id* id, sockaddr* src_addr, sockaddr* dst_addr,
                                       int /*timeout_ms*/) {
  return guarded([&] {
    const int result = start_resolving(Id::of(id), src_addr, dst_addr);
    return result != 0 ? result : complete_synchronous_call(Id::of(id));
  });
}

SOFTVERBS_EXPORT int rdma_resolve_route(rdma_cm_id* id, int /*timeout_ms*/) {
  return guarded([&] {
    const int result = start_routing(Id::of(id));
    return result != 0 ? result : complete_synchronous_call(Id::of(id));
  });
}

SOFTVERBS_EXPORT int rdma_listen(rdma_cm_id* id, int backlog) {
  return guarded([&] { return listen(Id::of(id), backlog); });
}
