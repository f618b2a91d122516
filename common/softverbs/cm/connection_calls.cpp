// Connecting, accepting, rejecting, disconnecting.

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <span>

#include "common/softverbs/cm/api.h"
#include "common/softverbs/cm/event_calls.h"
#include "common/softverbs/cm/id.h"
#include "common/softverbs/cm/link.h"
#include "common/softverbs/cm/qp_attributes.h"

namespace softverbs::cm {
namespace {

constexpr uint8_t kMaxRetries = 7;

void store(const SocketAddress& address, sockaddr_in6& out) {
  std::memcpy(&out, address.get(), address.size());
}

bool is_valid_parameter(const Id& id, const rdma_conn_param* parameter) {
  if (parameter == nullptr) return id.qp != nullptr;
  if (id.device == nullptr) return false;
  const bool responder_fits = parameter->responder_resources == RDMA_MAX_RESP_RES ||
                              parameter->responder_resources <= id.device->max_responder_resources;
  const bool initiator_fits = parameter->initiator_depth == RDMA_MAX_INIT_DEPTH ||
                              parameter->initiator_depth <= id.device->max_initiator_depth;
  return responder_fits && initiator_fits;
}

std::span<const uint8_t> user_data(const void* data, size_t size) {
  if (data == nullptr) return {};
  return {static_cast<const uint8_t*>(data), size};
}

/// What connect and accept say in common. Needs the lock.
Message make_message(const Id& id, MessageKind kind, const rdma_conn_param* parameter) {
  Message message;
  message.kind = kind;
  message.responder_resources = id.responder_resources;
  message.initiator_depth = id.initiator_depth;
  message.retry_count = kMaxRetries;
  message.rnr_retry_count = kMaxRetries;
  message.mtu = static_cast<uint8_t>(id.device->mtu);
  message.starting_psn = id.attributes.local_psn;
  message.gid = id.device->gids[id.device->gid_index(id.source)];
  store(id.source, message.source);
  store(*id.destination, message.destination);
  if (parameter != nullptr) {
    message.flow_control = parameter->flow_control;
    message.retry_count = std::min(parameter->retry_count, kMaxRetries);
    message.rnr_retry_count = std::min(parameter->rnr_retry_count, kMaxRetries);
    message.qp_num = parameter->qp_num;
    message.srq = parameter->srq;
  }
  if (id.qp != nullptr) {
    message.qp_num = id.qp->qp_num;
    message.srq = id.qp->srq != nullptr ? 1 : 0;
  }
  return message;
}

/// @return false when it is more than the connection's kind of device carries.
bool add_private_data(const Id& id, size_t limit, const rdma_conn_param* parameter,
                      Message& message) {
  std::vector<uint8_t> data;
  if (message.kind == MessageKind::kRequest) data = id.connect_prefix;
  if (parameter != nullptr) {
    const auto own = user_data(parameter->private_data, parameter->private_data_len);
    data.insert(data.end(), own.begin(), own.end());
  }
  if (data.size() > (id.iwarp() ? kMaxPrivateData : limit)) return false;
  set_private_data(message, data);
  return true;
}

int start_connecting(Id& id, const rdma_conn_param* parameter) {
  const Lock lock(Process::get().mutex);
  if (!is_valid_parameter(id, parameter)) return fail(EINVAL);
  if (id.state != IdState::kRouteResolved) return fail(EINVAL);
  const bool own_responder =
      parameter != nullptr && parameter->responder_resources != RDMA_MAX_RESP_RES;
  const bool own_initiator =
      parameter != nullptr && parameter->initiator_depth != RDMA_MAX_INIT_DEPTH;
  id.responder_resources =
      own_responder ? parameter->responder_resources : id.device->max_responder_resources;
  id.initiator_depth = own_initiator ? parameter->initiator_depth : id.device->max_initiator_depth;
  Message request = make_message(id, MessageKind::kRequest, parameter);
  if (!add_private_data(id, kRequestPrivateData, parameter, request)) return fail(EINVAL);
  id.attributes.retry_count = request.retry_count;
  id.attributes.responder_resources = id.responder_resources;
  id.attributes.initiator_depth = id.initiator_depth;
  id.state = IdState::kConnect;
  id.link = LinkState::kRequestSent;
  send_request(id, request);
  return 0;
}

void choose_accepted_resources(Id& id, const rdma_conn_param* parameter) {
  if (parameter == nullptr || parameter->responder_resources == RDMA_MAX_RESP_RES) {
    id.responder_resources = std::min(id.responder_resources, id.device->max_responder_resources);
  } else {
    id.responder_resources = parameter->responder_resources;
  }
  if (parameter == nullptr || parameter->initiator_depth == RDMA_MAX_INIT_DEPTH) {
    id.initiator_depth = std::min(id.initiator_depth, id.device->max_initiator_depth);
  } else {
    id.initiator_depth = parameter->initiator_depth;
  }
}

// Like the kernel: an accept that cannot be rejects the peer.
int accept_now(Id& id, const rdma_conn_param* parameter) {
  const Lock lock(Process::get().mutex);
  if (id.state != IdState::kConnect) return -EINVAL;
  Message reply = make_message(id, MessageKind::kReply, parameter);
  int error = -EINVAL;
  if (add_private_data(id, kReplyPrivateData, parameter, reply)) error = send_reply(id, reply);
  if (error != 0) send_reject(id, consumer_reject(id), {});
  return error;
}

int accept(Id& id, const rdma_conn_param* parameter) {
  {
    const Lock lock(Process::get().mutex);
    if (!is_valid_parameter(id, parameter)) return fail(EINVAL);
    choose_accepted_resources(id, parameter);
  }
  int error = 0;
  if (id.qp != nullptr) error = connect_qp(id, id.responder_resources, id.initiator_depth);
  if (error == 0) error = accept_now(id, parameter);
  if (error == 0) return 0;
  fail_qp(id);
  return answer(error);
}

int reject(Id& id, const void* data, uint8_t size) {
  const Lock lock(Process::get().mutex);
  const auto private_data = user_data(data, size);
  if (private_data.size() > (id.iwarp() ? kMaxPrivateData : kRejectPrivateData)) {
    return fail(EINVAL);
  }
  return answer(send_reject(id, consumer_reject(id), private_data));
}

int start_disconnecting(Id& id) {
  if (const int error = fail_qp(id); error != 0) return answer(error);
  const Lock lock(Process::get().mutex);
  if (id.state != IdState::kConnect && id.state != IdState::kDisconnected) return fail(EINVAL);
  disconnect(id);
  return 0;
}

int establish(Id& id) {
  if (id.qp != nullptr) return fail(EINVAL);
  const Lock lock(Process::get().mutex);
  return answer(send_ready_to_use(id));
}

int notify(Id& id, ibv_event_type event) {
  const Lock lock(Process::get().mutex);
  if (id.state != IdState::kConnect) return fail(EINVAL);
  if (id.iwarp()) return 0;
  return event == IBV_EVENT_COMM_EST ? answer(note_established(id)) : fail(EINVAL);
}

int init_qp_attributes(Id& id, ibv_qp_attr& attr, int& mask) {
  const Lock lock(Process::get().mutex);
  return answer(fill_qp_attributes(id, attr, mask));
}

}  // namespace
}  // namespace softverbs::cm

using namespace softverbs::cm;

SOFTVERBS_EXPORT int rdma_connect(rdma_cm_id* id, rdma_conn_param* conn_param) {
  return guarded([&] {
    const int result = start_connecting(Id::of(id), conn_param);
    return result != 0 ? result : complete_synchronous_call(Id::of(id));
  });
}

SOFTVERBS_EXPORT int rdma_accept(rdma_cm_id* id, rdma_conn_param* conn_param) {
  return guarded([&] {
    const int result = accept(Id::of(id), conn_param);
    return result != 0 ? result : complete_synchronous_call(Id::of(id));
  });
}

SOFTVERBS_EXPORT int rdma_reject(rdma_cm_id* id, const void* private_data,
                                 uint8_t private_data_len) {
  return guarded([&] { return reject(Id::of(id), private_data, private_data_len); });
}

SOFTVERBS_EXPORT int rdma_reject_ece(rdma_cm_id* id, const void* private_data,
                                     uint8_t private_data_len) {
  return rdma_reject(id, private_data, private_data_len);
}

SOFTVERBS_EXPORT int rdma_disconnect(rdma_cm_id* id) {
  return guarded([&] {
    const int result = start_disconnecting(Id::of(id));
    return result != 0 ? result : complete_synchronous_call(Id::of(id));
  });
}

SOFTVERBS_EXPORT int rdma_establish(rdma_cm_id* id) {
  return guarded([&] { return establish(Id::of(id)); });
}

SOFTVERBS_EXPORT int rdma_notify(rdma_cm_id* id, ibv_event_type event) {
  return guarded([&] { return notify(Id::of(id), event); });
}

SOFTVERBS_EXPORT int rdma_init_qp_attr(rdma_cm_id* id, ibv_qp_attr* qp_attr, int* qp_attr_mask) {
  if (qp_attr == nullptr || qp_attr_mask == nullptr) return fail(EINVAL);
  return guarded([&] { return init_qp_attributes(Id::of(id), *qp_attr, *qp_attr_mask); });
}
