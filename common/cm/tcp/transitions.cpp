#include "common/cm/tcp/transitions.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <string>

#include "common/error.h"
#include "common/verbs/context.h"

namespace rdmablk::cm::tcp {
namespace {

/// How long a peer that had posted no receive is to wait before it tries again: 0.64 ms, as
/// ibv_modify_qp(3) numbers such times. Ours always have.
constexpr std::uint8_t kMinRnrTimer = 12;
constexpr std::uint8_t kReceiverNotReadyRetries = 6;

/// Routers that a packet may pass.
constexpr std::uint8_t kHopLimit = 64;

void modify(verbs::QueuePair& qp, ibv_qp_attr& attributes, int mask, const char* state,
            const PortPlace& place) {
  const int error = ibv_modify_qp(qp.get(), &attributes, mask);
  if (error == 0) return;
  throw SystemError(
      fmt::format("bring a queue pair on port {} of {} into the state {} (GID index {})",
                  place.port, verbs::device_name(place.device), state, place.gid_index),
      error < 0 ? errno : error);
}

/// Whether packets need a global route header: always on RoCE, on InfiniBand to another subnet.
bool is_global(const PortPlace& place, const Endpoint& peer) {
  if (place.link_layer == IBV_LINK_LAYER_ETHERNET || peer.lid == 0) return true;
  const auto own = place.endpoint().gid;
  constexpr int kPrefix = 8;
  return !std::equal(own.begin(), own.begin() + kPrefix, peer.gid.begin());
}

ibv_ah_attr address_of(const PortPlace& place, const Settings& settings, const Endpoint& peer) {
  ibv_ah_attr address{};
  address.port_num = place.port;
  address.dlid = peer.lid;
  address.sl = settings.service_level.value_or(0);
  if (is_global(place, peer)) {
    address.is_global = 1;
    address.grh.dgid = std::bit_cast<ibv_gid>(peer.gid);
    address.grh.sgid_index = place.gid_index;
    address.grh.hop_limit = kHopLimit;
    address.grh.traffic_class = settings.traffic_class.value_or(0);
  }
  return address;
}

void check_fit(const PortPlace& place, const Endpoint& peer) {
  if (place.link_layer == peer.link_layer && place.gid_type == peer.gid_type) return;
  throw Error(
      fmt::format("the two ends do not fit: port {} of {} and that of the other end are of "
                  "different kinds of networks, or of different versions of RoCE; choose with "
                  "--device and --gid-index, `rdmablk devices` shows what there is",
                  place.port, verbs::device_name(place.device)));
}

}  // namespace

void initialize(verbs::QueuePair& qp, const PortPlace& place, const Settings& settings,
                unsigned access) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_INIT;
  attributes.pkey_index = settings.pkey_index.value_or(0);
  attributes.port_num = place.port;
  attributes.qp_access_flags = access;
  modify(qp, attributes, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS,
         "INIT", place);
}

void connect(verbs::QueuePair& qp, const PortPlace& place, const Settings& settings,
             const Endpoint& own, const Endpoint& peer) {
  check_fit(place, peer);
  ibv_qp_attr receive{};
  receive.qp_state = IBV_QPS_RTR;
  // The same at both ends: packets are numbered by it.
  receive.path_mtu = static_cast<ibv_mtu>(std::min(own.mtu, peer.mtu));
  receive.dest_qp_num = peer.queue_pair;
  receive.rq_psn = peer.packet;
  receive.max_dest_rd_atomic = std::min(own.responder_depth, peer.initiator_depth);
  receive.min_rnr_timer = kMinRnrTimer;
  receive.ah_attr = address_of(place, settings, peer);
  modify(qp, receive,
         IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
             IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER,
         "RTR", place);
  ibv_qp_attr send{};
  send.qp_state = IBV_QPS_RTS;
  send.timeout = settings.ack_timeout;
  send.retry_cnt = settings.retries;
  send.rnr_retry = kReceiverNotReadyRetries;
  send.sq_psn = own.packet;
  send.max_rd_atomic = std::min(own.initiator_depth, peer.responder_depth);
  modify(qp, send,
         IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN |
             IBV_QP_MAX_QP_RD_ATOMIC,
         "RTS", place);
}

}  // namespace rdmablk::cm::tcp
