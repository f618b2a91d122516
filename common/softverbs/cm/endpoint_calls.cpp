// rdma_create_ep(3) and what belongs to it: ids that are made in one call and work synchronously.

#include <rdma/rdma_verbs.h>

#include <cerrno>

#include "common/softverbs/cm/api.h"
#include "common/softverbs/cm/event_calls.h"
#include "common/softverbs/cm/id.h"

namespace softverbs::cm {
namespace {

constexpr int kResolveTimeoutMs = 2000;

int prepare_passive(Id& id, const rdma_addrinfo& address, ibv_pd* pd,
                    const ibv_qp_init_attr* attr) {
  if (rdma_bind_addr(&id, address.ai_src_addr) != 0) return -1;
  if (attr == nullptr) return 0;
  id.endpoint_attr = std::make_unique<ibv_qp_init_attr>(*attr);
  id.endpoint_attr->qp_type = static_cast<ibv_qp_type>(address.ai_qp_type);
  id.pd = pd;
  return 0;
}

int prepare_active(Id& id, const rdma_addrinfo& address, ibv_pd* pd, ibv_qp_init_attr* attr) {
  if (rdma_resolve_addr(&id, address.ai_src_addr, address.ai_dst_addr, kResolveTimeoutMs) != 0 ||
      rdma_resolve_route(&id, kResolveTimeoutMs) != 0) {
    return -1;
  }
  if (attr != nullptr) {
    attr->qp_type = static_cast<ibv_qp_type>(address.ai_qp_type);
    if (rdma_create_qp(&id, pd, attr) != 0) return -1;
  }
  if (address.ai_connect != nullptr) {
    const auto* data = static_cast<const uint8_t*>(address.ai_connect);
    id.connect_prefix.assign(data, data + address.ai_connect_len);
  }
  return 0;
}

int create_endpoint(rdma_cm_id** created, const rdma_addrinfo& address, ibv_pd* pd,
                    ibv_qp_init_attr* attr) {
  rdma_cm_id* id = nullptr;
  const auto port_space = static_cast<rdma_port_space>(address.ai_port_space);
  if (rdma_create_id(nullptr, &id, nullptr, port_space) != 0) return -1;
  const bool passive = (address.ai_flags & RAI_PASSIVE) != 0;
  const int result = passive ? prepare_passive(Id::of(id), address, pd, attr)
                             : prepare_active(Id::of(id), address, pd, attr);
  if (result != 0) {
    const int error = errno;
    rdma_destroy_ep(id);
    return fail(error);
  }
  *created = id;
  return 0;
}

int take_request(Id& listener, rdma_cm_event& event, rdma_cm_id** taken) {
  if (event.status != 0) return fail(event.status < 0 ? -event.status : event.status);
  if (event.event != RDMA_CM_EVENT_CONNECT_REQUEST) return fail(EINVAL);
  if (listener.endpoint_attr) {
    ibv_qp_init_attr attr = *listener.endpoint_attr;
    if (rdma_create_qp(event.id, listener.pd, &attr) != 0) return -1;
  }
  *taken = event.id;
  return 0;
}

int get_request(Id& listener, rdma_cm_id** taken) {
  if (!listener.synchronous) return fail(EINVAL);
  acknowledge_current_event(listener);
  rdma_cm_event* event = nullptr;
  if (rdma_get_cm_event(listener.channel, &event) != 0) return -1;
  if (take_request(listener, *event, taken) != 0) {
    listener.event = event;
    return -1;
  }
  (*taken)->event = event;
  return 0;
}

}  // namespace
}  // namespace softverbs::cm

using namespace softverbs::cm;

SOFTVERBS_EXPORT int rdma_create_ep(rdma_cm_id** id, rdma_addrinfo* res, ibv_pd* pd,
                                    ibv_qp_init_attr* qp_init_attr) {
  if (id == nullptr || res == nullptr) return fail(EINVAL);
  return guarded([&] { return create_endpoint(id, *res, pd, qp_init_attr); });
}

SOFTVERBS_EXPORT void rdma_destroy_ep(rdma_cm_id* id) {
  if (id->qp != nullptr) rdma_destroy_qp(id);
  if (id->srq != nullptr) rdma_destroy_srq(id);
  rdma_destroy_id(id);
}

SOFTVERBS_EXPORT int rdma_get_request(rdma_cm_id* listen, rdma_cm_id** id) {
  if (id == nullptr) return fail(EINVAL);
  return guarded([&] { return get_request(Id::of(listen), id); });
}
