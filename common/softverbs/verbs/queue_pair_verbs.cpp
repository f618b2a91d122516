// The functions of libibverbs for queue pairs, and how attributes change.
#include <cerrno>
#include <new>
#include <system_error>

#include "common/softverbs/export.h"
#include "common/softverbs/verbs/completion_queue.h"
#include "common/softverbs/verbs/context.h"
#include "common/softverbs/verbs/limits.h"
#include "common/softverbs/verbs/process.h"
#include "common/softverbs/verbs/queue_pair.h"
#include "common/softverbs/verbs/queue_pair_transition.h"
#include "common/softverbs/verbs/service.h"
#include "common/softverbs/verbs/settings.h"

namespace softverbs {
namespace {

constexpr uint32_t kMaxNumber = 0xffffff;  ///< Of queue pairs and packets.
constexpr unsigned kQueuePairAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                      IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                                      IBV_ACCESS_MW_BIND | IBV_ACCESS_OPTIONAL_RANGE;

int check_capabilities(const ibv_qp_cap& cap) {
  const bool fits = cap.max_send_wr <= kMaxQueuePairWr && cap.max_recv_wr <= kMaxQueuePairWr &&
                    cap.max_send_sge <= kMaxSge && cap.max_recv_sge <= kMaxSge &&
                    cap.max_inline_data <= kMaxInline;
  return fits ? 0 : EINVAL;
}

int check_path(const Context& context, const ibv_ah_attr& path) {
  if (path.port_num != 1) return EINVAL;
  if (Settings::get().iwarp()) return 0;
  const GidEntry* const source = context.gids().find(path.grh.sgid_index);
  if (!path.is_global || source == nullptr) return EINVAL;
  // No route leads from one family of addresses to the other.
  const bool other_family = is_mapped(source->gid) != is_mapped(path.grh.dgid);
  if (other_family && !is_link_local(path.grh.dgid)) return EINVAL;
  // Read anew: an address that came up after the device was opened is local too.
  const GidTable remote(device_of(path.grh.dgid));
  return context.gids().contains(path.grh.dgid) || remote.contains(path.grh.dgid) ? 0
                                                                                  : EHOSTUNREACH;
}

}  // namespace

int QueuePair::check(const ibv_qp_attr& attributes, int mask) const {
  const auto has = [mask](int bit) { return (mask & bit) != 0; };
  if (has(IBV_QP_PKEY_INDEX) && attributes.pkey_index != 0) return EINVAL;
  if (has(IBV_QP_PORT) && attributes.port_num != 1) return EINVAL;
  if (has(IBV_QP_ACCESS_FLAGS) && (attributes.qp_access_flags & ~kQueuePairAccess)) return EINVAL;
  if (has(IBV_QP_PATH_MTU) &&
      (attributes.path_mtu < IBV_MTU_256 || attributes.path_mtu > device_.active_mtu())) {
    return EINVAL;
  }
  if (has(IBV_QP_DEST_QPN) && attributes.dest_qp_num > kMaxNumber) return EINVAL;
  if (has(IBV_QP_MAX_QP_RD_ATOMIC) && attributes.max_rd_atomic > kMaxReadAtomic) return EINVAL;
  if (has(IBV_QP_MAX_DEST_RD_ATOMIC) && attributes.max_dest_rd_atomic > kMaxReadAtomic) {
    return EINVAL;
  }
  if (has(IBV_QP_TIMEOUT) && attributes.timeout > 31) return EINVAL;
  if (has(IBV_QP_RETRY_CNT) && attributes.retry_cnt > 7) return EINVAL;
  if (has(IBV_QP_RNR_RETRY) && attributes.rnr_retry > 7) return EINVAL;
  if (has(IBV_QP_MIN_RNR_TIMER) && attributes.min_rnr_timer > 31) return EINVAL;
  if (has(IBV_QP_ALT_PATH) || has(IBV_QP_PATH_MIG_STATE)) return EINVAL;
  if (has(IBV_QP_AV)) return check_path(*Context::from(context), attributes.ah_attr);
  return 0;
}

/// As on siw, which knows no connections but those of the connection manager: to RTR nothing
/// happens, and to RTS it says no.
int QueuePair::modify(const ibv_qp_attr& attributes, int mask) {
  if (Settings::get().iwarp() && (mask & IBV_QP_STATE) && state() == IBV_QPS_INIT) {
    if (dead()) return EIO;
    if (attributes.qp_state == IBV_QPS_RTR) return 0;
    if (attributes.qp_state == IBV_QPS_RTS) return EINVAL;
  }
  return modify_for_connection(attributes, mask);
}

int QueuePair::modify_for_connection(const ibv_qp_attr& attributes, int mask) {
  if (dead()) return EIO;
  if (const int error = check(attributes, mask)) return error;
  std::shared_ptr<Peer> peer;
  if (mask & IBV_QP_DEST_QPN) peer = process_.service().resolve(attributes.dest_qp_num);
  ibv_qp_state to{};
  {
    std::scoped_lock lock(send_mutex_, receive_mutex_);
    if (dead()) return EIO;
    const ibv_qp_state from = state();
    to = (mask & IBV_QP_STATE) ? attributes.qp_state : from;
    if ((mask & IBV_QP_CUR_STATE) && attributes.cur_qp_state != from) return EINVAL;
    if (!transition_allowed(from, to, mask)) return EINVAL;
    apply(attributes, mask);
    if (mask & IBV_QP_DEST_QPN) {
      peer_ = std::move(peer);
      slot_.dest_token.store(peer_ ? peer_->token() : 0);
    }
    change_state(from, to);
    ibv_qp::state = to;
  }
  if (to == IBV_QPS_ERR || to == IBV_QPS_RESET) wait_for_copies();
  if (to == IBV_QPS_RTS) resume();
  return 0;
}

void QueuePair::apply(const ibv_qp_attr& from, int mask) {
  const auto take = [&](int bit, auto member) {
    if (mask & bit) attributes_.*member = from.*member;
  };
  take(IBV_QP_PKEY_INDEX, &ibv_qp_attr::pkey_index);
  take(IBV_QP_PORT, &ibv_qp_attr::port_num);
  take(IBV_QP_ACCESS_FLAGS, &ibv_qp_attr::qp_access_flags);
  take(IBV_QP_AV, &ibv_qp_attr::ah_attr);
  take(IBV_QP_PATH_MTU, &ibv_qp_attr::path_mtu);
  take(IBV_QP_DEST_QPN, &ibv_qp_attr::dest_qp_num);
  take(IBV_QP_RQ_PSN, &ibv_qp_attr::rq_psn);
  take(IBV_QP_SQ_PSN, &ibv_qp_attr::sq_psn);
  take(IBV_QP_MAX_QP_RD_ATOMIC, &ibv_qp_attr::max_rd_atomic);
  take(IBV_QP_MAX_DEST_RD_ATOMIC, &ibv_qp_attr::max_dest_rd_atomic);
  take(IBV_QP_MIN_RNR_TIMER, &ibv_qp_attr::min_rnr_timer);
  take(IBV_QP_TIMEOUT, &ibv_qp_attr::timeout);
  take(IBV_QP_RETRY_CNT, &ibv_qp_attr::retry_cnt);
  take(IBV_QP_RNR_RETRY, &ibv_qp_attr::rnr_retry);
  take(IBV_QP_EN_SQD_ASYNC_NOTIFY, &ibv_qp_attr::en_sqd_async_notify);
  attributes_.rq_psn &= kMaxNumber;
  attributes_.sq_psn &= kMaxNumber;
  if (mask & IBV_QP_AV) apply_path();
  slot_.access.store(attributes_.qp_access_flags);
  slot_.dest_qpn.store(attributes_.dest_qp_num);
  slot_.rq_psn.store(attributes_.rq_psn);
}

void QueuePair::apply_path() {
  const Context& of = *Context::from(context);
  const ibv_global_route& route = attributes_.ah_attr.grh;
  const GidEntry* const source = of.gids().find(Settings::get().iwarp() ? 0 : route.sgid_index);
  const uint32_t type = source != nullptr ? source->type : 0;
  slot_.port.store(port_name(of.device().index, type));
  dest_port_ = port_name(device_of(route.dgid), type);
}

void QueuePair::change_state(ibv_qp_state from, ibv_qp_state to) {
  if (to == IBV_QPS_RTR && from != to) {
    established_ = false;
    responder_.start();
  }
  if (to == IBV_QPS_RTS && from == IBV_QPS_RTR) requester_.start();
  slot_.state.store(to);
  switch (to) {
    case IBV_QPS_RESET:
      attributes_ = {};
      apply(attributes_, 0);
      slot_.dest_token.store(0);
      forget_requests();
      break;
    case IBV_QPS_ERR:
      requester_.flush();
      responder_.flush();
      break;
    case IBV_QPS_SQD:
      notify_drained_ = from == IBV_QPS_RTS && attributes_.en_sqd_async_notify != 0;
      check_drained();
      break;
    default:
      break;
  }
}

void QueuePair::query(ibv_qp_attr& attributes, ibv_qp_init_attr& init) {
  std::scoped_lock lock(send_mutex_, receive_mutex_);
  attributes = attributes_;
  attributes.qp_state = attributes.cur_qp_state = state();
  attributes.cap = capabilities_;
  attributes.path_mig_state = IBV_MIG_MIGRATED;
  attributes.sq_draining = state() == IBV_QPS_SQD && !requester_.idle();
  init = {};
  init.qp_context = qp_context;
  init.send_cq = send_cq;
  init.recv_cq = recv_cq;
  init.cap = capabilities_;
  init.qp_type = qp_type;
  init.sq_sig_all = signals_all_ ? 1 : 0;
  ibv_qp::state = state();
}

}  // namespace softverbs

using softverbs::QueuePair;

SOFTVERBS_EXPORT ibv_qp* ibv_create_qp(ibv_pd* pd, ibv_qp_init_attr* init) {
  int error = softverbs::check_capabilities(init->cap);
  if (init->send_cq == nullptr || init->recv_cq == nullptr) error = EINVAL;
  if (init->qp_type != IBV_QPT_RC || init->srq != nullptr) error = EOPNOTSUPP;
  if (softverbs::Context::from(pd->context)->dead()) error = EIO;
  if (error != 0) {
    errno = error;
    return nullptr;
  }
  try {
    return new QueuePair(pd, *init);
  } catch (const std::system_error& failure) {
    errno = failure.code().value();
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
  }
  return nullptr;
}

SOFTVERBS_EXPORT int ibv_modify_qp(ibv_qp* qp, ibv_qp_attr* attr, int attr_mask) {
  return QueuePair::from(qp)->modify(*attr, attr_mask);
}

SOFTVERBS_EXPORT int ibv_query_qp(ibv_qp* qp, ibv_qp_attr* attr, int, ibv_qp_init_attr* init_attr) {
  if (softverbs::Context::from(qp->context)->dead()) return EIO;
  QueuePair::from(qp)->query(*attr, *init_attr);
  return 0;
}

SOFTVERBS_EXPORT int ibv_destroy_qp(ibv_qp* qp) {
  QueuePair* queue_pair = QueuePair::from(qp);
  if (queue_pair->process().inherited()) return 0;
  queue_pair->disconnect();
  queue_pair->withdraw();
  delete queue_pair;
  return 0;
}

SOFTVERBS_EXPORT ibv_qp_ex* ibv_qp_to_qp_ex(ibv_qp*) {
  errno = EOPNOTSUPP;
  return nullptr;
}

SOFTVERBS_EXPORT int ibv_query_qp_data_in_order(ibv_qp*, ibv_wr_opcode, uint32_t) {
  return 0;
}

SOFTVERBS_EXPORT int ibv_query_ece(ibv_qp*, ibv_ece*) {
  errno = EOPNOTSUPP;
  return EOPNOTSUPP;
}

SOFTVERBS_EXPORT int ibv_set_ece(ibv_qp*, ibv_ece* ece) {
  if (ece->vendor_id == 0) return 0;
  errno = EOPNOTSUPP;
  return EOPNOTSUPP;
}
