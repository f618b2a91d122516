// Devices, queue pairs and shared receive queues of ids.

#include <rdma/rdma_verbs.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/softverbs/cm/api.h"
#include "common/softverbs/cm/id.h"
#include "common/softverbs/cm/qp_attributes.h"

namespace softverbs::cm {
namespace {

void destroy_completion_queues(rdma_cm_id& id) {
  if (id.recv_cq != nullptr) ibv_destroy_cq(id.recv_cq);
  if (id.recv_cq_channel != nullptr) ibv_destroy_comp_channel(id.recv_cq_channel);
  if (id.send_cq != nullptr) ibv_destroy_cq(id.send_cq);
  if (id.send_cq_channel != nullptr) ibv_destroy_comp_channel(id.send_cq_channel);
  id.recv_cq = nullptr;
  id.recv_cq_channel = nullptr;
  id.send_cq = nullptr;
  id.send_cq_channel = nullptr;
}

bool create_completion_queue(rdma_cm_id& id, uint32_t size, ibv_comp_channel*& channel,
                             ibv_cq*& queue) {
  channel = ibv_create_comp_channel(id.verbs);
  if (channel == nullptr) return false;
  queue = ibv_create_cq(id.verbs, static_cast<int>(size), &id, channel, 0);
  return queue != nullptr;
}

// Those that neither the caller nor an earlier call has brought.
bool create_missing_completion_queues(rdma_cm_id& id, const ibv_qp_init_attr_ex& attr) {
  if (attr.send_cq == nullptr && id.send_cq == nullptr && attr.cap.max_send_wr != 0 &&
      !create_completion_queue(id, attr.cap.max_send_wr, id.send_cq_channel, id.send_cq)) {
    return false;
  }
  return attr.recv_cq != nullptr || id.recv_cq != nullptr || attr.cap.max_recv_wr == 0 ||
         create_completion_queue(id, attr.cap.max_recv_wr, id.recv_cq_channel, id.recv_cq);
}

ibv_pd* default_pd(const rdma_cm_id& id) {
  const Lock lock(Process::get().mutex);
  return Process::get().devices.default_pd(id.verbs);
}

int choose_pd(const rdma_cm_id& id, ibv_qp_init_attr_ex& attr) {
  if ((attr.comp_mask & IBV_QP_INIT_ATTR_PD) != 0 && attr.pd != nullptr) {
    return attr.pd->context == id.verbs ? 0 : fail(EINVAL);
  }
  attr.comp_mask |= IBV_QP_INIT_ATTR_PD;
  attr.pd = id.pd != nullptr ? id.pd : default_pd(id);
  return attr.pd != nullptr ? 0 : -1;
}

int create_qp(Id& id, ibv_qp_init_attr_ex& attr) {
  if (id.verbs == nullptr || id.qp != nullptr) return fail(EINVAL);
  if (choose_pd(id, attr) != 0) return -1;
  const bool other_recv =
      id.recv_cq != nullptr && attr.recv_cq != nullptr && id.recv_cq != attr.recv_cq;
  const bool other_send =
      id.send_cq != nullptr && attr.send_cq != nullptr && id.send_cq != attr.send_cq;
  if (other_recv || other_send) return fail(EINVAL);
  if (!create_missing_completion_queues(id, attr)) {
    const int error = errno;
    destroy_completion_queues(id);
    return fail(error);
  }
  if (attr.send_cq == nullptr) attr.send_cq = id.send_cq;
  if (attr.recv_cq == nullptr) attr.recv_cq = id.recv_cq;
  if (attr.srq == nullptr) attr.srq = id.srq;
  ibv_qp* qp = ibv_create_qp_ex(id.verbs, &attr);
  int error = qp == nullptr ? errno : 0;
  if (error == 0) error = -initialize_qp(id, *qp);
  if (error != 0) {
    if (qp != nullptr) ibv_destroy_qp(qp);
    destroy_completion_queues(id);
    return fail(error);
  }
  id.pd = qp->pd;
  id.qp = qp;
  return 0;
}

int create_srq(Id& id, ibv_srq_init_attr_ex& attr) {
  if (id.srq != nullptr || id.verbs == nullptr) return fail(EINVAL);
  if ((attr.comp_mask & IBV_SRQ_INIT_ATTR_TYPE) != 0 && attr.srq_type != IBV_SRQT_BASIC) {
    return fail(EOPNOTSUPP);
  }
  ibv_pd* pd = (attr.comp_mask & IBV_SRQ_INIT_ATTR_PD) != 0 ? attr.pd : id.pd;
  if (pd == nullptr) pd = default_pd(id);
  if (pd == nullptr) return -1;
  if (pd->context != id.verbs) return fail(EINVAL);
  ibv_srq_init_attr basic{};
  basic.srq_context = attr.srq_context;
  basic.attr = attr.attr;
  ibv_srq* srq = ibv_create_srq(pd, &basic);
  if (srq == nullptr) return -1;
  attr.attr = basic.attr;
  id.srq = srq;
  if (id.pd == nullptr) id.pd = pd;
  return 0;
}

int list_devices(ibv_context**& list, int* count) {
  Process& process = Process::get();
  const Lock lock(process.mutex);
  const auto devices = process.devices.present();
  if (devices.empty()) return fail(ENODEV);
  list = static_cast<ibv_context**>(std::calloc(devices.size() + 1, sizeof(ibv_context*)));
  if (list == nullptr) return fail(ENOMEM);
  for (size_t index = 0; index < devices.size(); ++index) list[index] = devices[index]->context;
  if (count != nullptr) *count = static_cast<int>(devices.size());
  process.device_lists[list] = devices;
  return 0;
}

}  // namespace
}  // namespace softverbs::cm

using namespace softverbs::cm;

SOFTVERBS_EXPORT int rdma_create_qp_ex(rdma_cm_id* id, ibv_qp_init_attr_ex* qp_init_attr) {
  return guarded([&] { return create_qp(Id::of(id), *qp_init_attr); });
}

SOFTVERBS_EXPORT int rdma_create_qp(rdma_cm_id* id, ibv_pd* pd, ibv_qp_init_attr* qp_init_attr) {
  ibv_qp_init_attr_ex extended{};
  std::memcpy(&extended, qp_init_attr, sizeof(*qp_init_attr));
  extended.comp_mask = IBV_QP_INIT_ATTR_PD;
  extended.pd = pd;
  const int result = rdma_create_qp_ex(id, &extended);
  if (result == 0) std::memcpy(qp_init_attr, &extended, sizeof(*qp_init_attr));
  return result;
}

SOFTVERBS_EXPORT void rdma_destroy_qp(rdma_cm_id* id) {
  if (id->qp != nullptr) ibv_destroy_qp(id->qp);
  id->qp = nullptr;
  destroy_completion_queues(*id);
}

SOFTVERBS_EXPORT int rdma_create_srq_ex(rdma_cm_id* id, ibv_srq_init_attr_ex* attr) {
  return guarded([&] { return create_srq(Id::of(id), *attr); });
}

SOFTVERBS_EXPORT int rdma_create_srq(rdma_cm_id* id, ibv_pd* pd, ibv_srq_init_attr* attr) {
  ibv_srq_init_attr_ex extended{};
  extended.srq_context = attr->srq_context;
  extended.attr = attr->attr;
  extended.comp_mask = IBV_SRQ_INIT_ATTR_PD;
  extended.pd = pd;
  const int result = rdma_create_srq_ex(id, &extended);
  if (result == 0) attr->attr = extended.attr;
  return result;
}

SOFTVERBS_EXPORT void rdma_destroy_srq(rdma_cm_id* id) {
  if (id->srq != nullptr) ibv_destroy_srq(id->srq);
  id->srq = nullptr;
}

SOFTVERBS_EXPORT ibv_context** rdma_get_devices(int* num_devices) {
  ibv_context** list = nullptr;
  if (guarded([&] { return list_devices(list, num_devices); }) != 0 && num_devices != nullptr) {
    *num_devices = 0;
  }
  return list;
}

SOFTVERBS_EXPORT void rdma_free_devices(ibv_context** list) {
  if (list == nullptr) return;
  guarded([&] {
    std::vector<std::shared_ptr<softverbs::cm::Device>> unused;  // Closed without the lock.
    const Lock lock(Process::get().mutex);
    const auto found = Process::get().device_lists.extract(list);
    if (!found.empty()) unused = std::move(found.mapped());
    return 0;
  });
  std::free(list);
}
