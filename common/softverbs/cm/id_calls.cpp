// Creation, destruction, migration and options of ids.

#include <cerrno>
#include <cstring>

#include "common/softverbs/cm/api.h"
#include "common/softverbs/cm/event_calls.h"
#include "common/softverbs/cm/id.h"

namespace softverbs::cm {
namespace {

int create_id(rdma_event_channel* channel, rdma_cm_id** created, void* context,
              rdma_port_space port_space) {
  if (port_space != RDMA_PS_TCP && port_space != RDMA_PS_IB) return fail(EOPNOTSUPP);
  Process& process = Process::get();
  const Lock lock(process.mutex);
  if (channel != nullptr) {
    *created = new Id(*static_cast<EventChannel*>(channel), context, port_space);
    return 0;
  }
  auto own = std::make_unique<EventChannel>();
  auto* id = new Id(*own, context, port_space);
  id->own_channel = std::move(own);
  id->synchronous = true;
  *created = id;
  return 0;
}

void wait_for_acknowledgements(Id& id, Lock& lock) {
  Process::get().acknowledged.wait(lock, [&] { return id.unacknowledged == 0; });
}

void destroy_id(Id& id) {
  {
    const Lock lock(Process::get().mutex);
    id.shut_down();
    id.home = nullptr;
  }
  acknowledge_current_event(id);
  Lock lock(Process::get().mutex);
  wait_for_acknowledgements(id, lock);
  delete &id;
}

int migrate_id(Id& id, EventChannel* channel) {
  auto own = channel == nullptr ? std::make_unique<EventChannel>() : nullptr;
  EventChannel& target = channel == nullptr ? *own : *channel;
  {
    const Lock lock(Process::get().mutex);
    if (id.home == &target) return 0;
    if (id.home != nullptr) {
      for (auto& event : id.home->take(id)) target.push(std::move(event));
    }
    id.home = &target;
  }
  if (id.synchronous) acknowledge_current_event(id);
  Lock lock(Process::get().mutex);
  wait_for_acknowledgements(id, lock);
  id.own_channel = std::move(own);
  id.synchronous = channel == nullptr;
  id.channel = &target;
  return 0;
}

template <typename Value>
bool read_option(const void* data, size_t size, Value& value) {
  if (data == nullptr || size != sizeof(Value)) return false;
  std::memcpy(&value, data, sizeof(Value));
  return true;
}

int set_reuse(Id& id, bool reuse) {
  const bool allowed = id.state == IdState::kIdle || (reuse && id.state != IdState::kListen);
  if (!allowed) return fail(EINVAL);
  id.claim.reuse = reuse;
  return 0;
}

int set_one_family(Id& id, bool only) {
  if (id.state != IdState::kIdle && id.state != IdState::kBound) return fail(EINVAL);
  id.claim.one_family = only;
  return 0;
}

int set_id_option(Id& id, int name, const void* data, size_t size) {
  uint8_t byte = 0;
  int number = 0;
  switch (name) {
    case RDMA_OPTION_ID_TOS:
      if (!read_option(data, size, byte)) return fail(EINVAL);
      id.type_of_service = byte;
      return 0;
    case RDMA_OPTION_ID_REUSEADDR:
      if (!read_option(data, size, number)) return fail(EINVAL);
      return set_reuse(id, number != 0);
    case RDMA_OPTION_ID_AFONLY:
      if (!read_option(data, size, number)) return fail(EINVAL);
      return set_one_family(id, number != 0);
    case RDMA_OPTION_ID_ACK_TIMEOUT:
      if (!read_option(data, size, byte)) return fail(EINVAL);
      id.ack_timeout = byte & 0x1fU;
      return 0;
    default:
      return fail(ENOSYS);
  }
}

// A path from elsewhere stands in for the route: there is only one here.
int set_path(Id& id, const void* data, size_t size) {
  if (data == nullptr || size == 0 || size % sizeof(ibv_path_data) != 0) return fail(EINVAL);
  if (id.state != IdState::kAddressResolved) return fail(EINVAL);
  id.state = IdState::kRouteResolved;
  id.later([](Id& self) { self.post(RDMA_CM_EVENT_ROUTE_RESOLVED); });
  return 0;
}

int set_option(Id& id, int level, int name, const void* data, size_t size) {
  const Lock lock(Process::get().mutex);
  if (level == RDMA_OPTION_ID) return set_id_option(id, name, data, size);
  if (level == RDMA_OPTION_IB && name == RDMA_OPTION_IB_PATH) return set_path(id, data, size);
  return fail(ENOSYS);
}

}  // namespace
}  // namespace softverbs::cm

using namespace softverbs::cm;

SOFTVERBS_EXPORT int rdma_create_id(rdma_event_channel* channel, rdma_cm_id** id, void* context,
                                    rdma_port_space ps) {
  if (id == nullptr) return fail(EINVAL);
  return guarded([&] { return create_id(channel, id, context, ps); });
}

SOFTVERBS_EXPORT int rdma_destroy_id(rdma_cm_id* id) {
  return guarded([&] {
    destroy_id(Id::of(id));
    return 0;
  });
}

SOFTVERBS_EXPORT int rdma_migrate_id(rdma_cm_id* id, rdma_event_channel* channel) {
  return guarded([&] { return migrate_id(Id::of(id), static_cast<EventChannel*>(channel)); });
}

SOFTVERBS_EXPORT int rdma_set_option(rdma_cm_id* id, int level, int optname, void* optval,
                                     size_t optlen) {
  return guarded([&] { return set_option(Id::of(id), level, optname, optval, optlen); });
}

SOFTVERBS_EXPORT __be16 rdma_get_src_port(rdma_cm_id* id) {
  const auto address = SocketAddress::from(&id->route.addr.src_addr);
  return htons(address ? address->port() : 0);
}

SOFTVERBS_EXPORT __be16 rdma_get_dst_port(rdma_cm_id* id) {
  const auto address = SocketAddress::from(&id->route.addr.dst_addr);
  return htons(address ? address->port() : 0);
}
