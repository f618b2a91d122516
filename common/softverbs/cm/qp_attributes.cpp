#include "common/softverbs/cm/qp_attributes.h"

#include <cerrno>

#include "common/softverbs/verbs/queue_pair.h"

namespace softverbs::cm {
namespace {

constexpr uint8_t kHopLimit = 64;
/// 4.096 us * 2^17, half a second: what the kernel derives from RoCE's packet life time.
constexpr uint8_t kAckTimeout = 17;

bool has_peer(LinkState link) {
  return link == LinkState::kReplyReceived || link == LinkState::kRequestReceived ||
         link == LinkState::kReplySent || link == LinkState::kEstablished;
}

int fill_init(const Id& id, ibv_qp_attr& attr, int& mask) {
  if (id.link != LinkState::kNone && id.link != LinkState::kRequestSent && !has_peer(id.link)) {
    return -EINVAL;
  }
  mask = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
  attr.pkey_index = 0;
  attr.port_num = kPort;
  attr.qp_access_flags = 0;
  if (id.link == LinkState::kNone) return 0;
  attr.qp_access_flags = IBV_ACCESS_REMOTE_WRITE;
  if (id.attributes.responder_resources != 0) {
    attr.qp_access_flags |= IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC;
  }
  return 0;
}

int fill_ready_to_receive(const Id& id, ibv_qp_attr& attr, int& mask) {
  if (!has_peer(id.link)) return -EINVAL;
  mask = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
         IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
  attr.ah_attr = {};
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = kPort;
  attr.ah_attr.grh.dgid = id.attributes.remote_gid;
  attr.ah_attr.grh.sgid_index = id.device->gid_index(id.source);
  attr.ah_attr.grh.hop_limit = kHopLimit;
  attr.ah_attr.grh.traffic_class = id.type_of_service;
  attr.path_mtu = static_cast<ibv_mtu>(id.attributes.mtu);
  attr.dest_qp_num = id.attributes.remote_qp_num;
  attr.rq_psn = id.attributes.local_psn;
  attr.max_dest_rd_atomic = id.attributes.responder_resources;
  attr.min_rnr_timer = 0;
  return 0;
}

int fill_ready_to_send(const Id& id, ibv_qp_attr& attr, int& mask) {
  if (!has_peer(id.link)) return -EINVAL;
  mask = IBV_QP_STATE | IBV_QP_SQ_PSN | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
         IBV_QP_MAX_QP_RD_ATOMIC;
  attr.sq_psn = id.attributes.remote_psn;
  attr.timeout = id.ack_timeout != 0 ? id.ack_timeout : kAckTimeout;
  attr.retry_cnt = id.attributes.retry_count;
  attr.rnr_retry = id.attributes.rnr_retry_count;
  attr.max_rd_atomic = id.attributes.initiator_depth;
  return 0;
}

int fill_locked(const Id& id, ibv_qp_attr& attr, int& mask) {
  const Lock lock(Process::get().mutex);
  return fill_qp_attributes(id, attr, mask);
}

}  // namespace

int fill_qp_attributes(const Id& id, ibv_qp_attr& attr, int& mask) {
  if (id.device == nullptr) return -EINVAL;
  switch (attr.qp_state) {
    case IBV_QPS_INIT:
      return fill_init(id, attr, mask);
    case IBV_QPS_RTR:
      return fill_ready_to_receive(id, attr, mask);
    case IBV_QPS_RTS:
      return fill_ready_to_send(id, attr, mask);
    default:
      return -EINVAL;
  }
}

int connect_qp(Id& id, uint8_t responder_resources, uint8_t initiator_depth) {
  for (const ibv_qp_state state : {IBV_QPS_INIT, IBV_QPS_RTR, IBV_QPS_RTS}) {
    ibv_qp_attr attr{};
    int mask = 0;
    attr.qp_state = state;
    if (const int error = fill_locked(id, attr, mask); error != 0) return error;
    if (responder_resources != RDMA_MAX_RESP_RES) attr.max_dest_rd_atomic = responder_resources;
    if (initiator_depth != RDMA_MAX_INIT_DEPTH) attr.max_rd_atomic = initiator_depth;
    QueuePair* const qp = QueuePair::from(id.qp);
    if (const int error = qp->modify_for_connection(attr, mask); error != 0) return -error;
  }
  return 0;
}

int fail_qp(Id& id) {
  if (id.qp == nullptr) return 0;
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_ERR;
  return -ibv_modify_qp(id.qp, &attr, IBV_QP_STATE);
}

int initialize_qp(Id& id, ibv_qp& qp) {
  ibv_qp_attr attr{};
  int mask = 0;
  attr.qp_state = IBV_QPS_INIT;
  if (const int error = fill_locked(id, attr, mask); error != 0) return error;
  return -ibv_modify_qp(&qp, &attr, mask);
}

}  // namespace softverbs::cm
