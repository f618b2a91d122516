#include "common/verbs/queue_pair.h"

#include <fmt/format.h>

#include "common/error.h"
#include "common/verbs/context.h"

namespace rdmablk::verbs {
namespace {

/// The specification has the errno value returned; soft-iWARP's provider returns -1 and sets errno.
int positive_errno(int result) {
  return result < 0 ? errno : result;
}

}  // namespace

ibv_qp_init_attr reliable_connection(const CompletionQueue& cq, const QueuePairOptions& options) {
  ibv_qp_init_attr attributes{};
  attributes.qp_type = IBV_QPT_RC;
  attributes.send_cq = cq.get();
  attributes.recv_cq = cq.get();
  attributes.cap.max_send_wr = options.send_requests;
  attributes.cap.max_recv_wr = options.receive_requests;
  attributes.cap.max_send_sge = options.send_segments;
  attributes.cap.max_recv_sge = options.receive_segments;
  attributes.cap.max_inline_data = options.inline_bytes;
  return attributes;
}

QueuePair make_queue_pair(const ProtectionDomain& pd, const CompletionQueue& cq,
                          const QueuePairOptions& options) {
  ibv_qp_init_attr attributes = reliable_connection(cq, options);
  ibv_qp* qp = ibv_create_qp(pd.get(), &attributes);
  if (qp == nullptr && options.inline_bytes > 0) {
    // No device says beforehand how much it takes; none is needed.
    attributes = reliable_connection(cq, options);
    attributes.cap.max_inline_data = 0;
    qp = ibv_create_qp(pd.get(), &attributes);
  }
  if (qp == nullptr) {
    const int error = errno;
    throw SystemError(
        fmt::format("create a queue pair of {} send and {} receive work requests on {}, which "
                    "takes {} of each",
                    options.send_requests, options.receive_requests, device_name(pd.context()),
                    query_device(pd.context()).max_qp_wr),
        error);
  }
  return QueuePair(qp, attributes.cap.max_inline_data);
}

int QueuePair::post_send(ibv_send_wr& list, ibv_send_wr*& unposted) noexcept {
  unposted = nullptr;
  return positive_errno(ibv_post_send(qp_.get(), &list, &unposted));
}

int QueuePair::post_receive(ibv_recv_wr& list) noexcept {
  ibv_recv_wr* bad = nullptr;
  return positive_errno(ibv_post_recv(qp_.get(), &list, &bad));
}

ibv_qp_state QueuePair::state() const noexcept {
  ibv_qp_attr attributes{};
  ibv_qp_init_attr initial{};
  if (ibv_query_qp(qp_.get(), &attributes, IBV_QP_STATE, &initial) != 0) return IBV_QPS_ERR;
  return attributes.qp_state;
}

int QueuePair::fail() noexcept {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_ERR;
  return ibv_modify_qp(qp_.get(), &attributes, IBV_QP_STATE);
}

}  // namespace rdmablk::verbs
