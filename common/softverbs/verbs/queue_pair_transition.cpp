#include "common/softverbs/verbs/queue_pair_transition.h"

#include <algorithm>
#include <iterator>

namespace softverbs {
namespace {

struct Transition {
  ibv_qp_state from;
  ibv_qp_state to;
  int required;
  int optional;
};

constexpr int kConnectionChanges = IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER |
                                   IBV_QP_ALT_PATH | IBV_QP_PATH_MIG_STATE;

constexpr Transition kTransitions[] = {
    {IBV_QPS_RESET, IBV_QPS_INIT, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS, 0},
    {IBV_QPS_INIT, IBV_QPS_INIT, 0, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
    {IBV_QPS_INIT, IBV_QPS_RTR,
     IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
         IBV_QP_MIN_RNR_TIMER,
     IBV_QP_ALT_PATH | IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
    {IBV_QPS_RTR, IBV_QPS_RTS,
     IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC,
     kConnectionChanges},
    {IBV_QPS_RTS, IBV_QPS_RTS, 0, kConnectionChanges},
    {IBV_QPS_RTS, IBV_QPS_SQD, 0, IBV_QP_EN_SQD_ASYNC_NOTIFY},
    {IBV_QPS_SQD, IBV_QPS_RTS, 0, kConnectionChanges},
    {IBV_QPS_SQD, IBV_QPS_SQD, 0,
     IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
         IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_PKEY_INDEX |
         kConnectionChanges},
};

/// The states that IBV_QP_CUR_STATE may claim.
bool may_be_claimed(ibv_qp_state state) {
  return state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD;
}

}  // namespace

bool transition_allowed(ibv_qp_state from, ibv_qp_state to, int mask) {
  const int given = mask & ~IBV_QP_STATE;
  if ((given & IBV_QP_CUR_STATE) && !may_be_claimed(from)) return false;
  if (to == IBV_QPS_RESET || to == IBV_QPS_ERR) return given == 0;
  const auto* found =
      std::find_if(std::begin(kTransitions), std::end(kTransitions),
                   [&](const Transition& each) { return each.from == from && each.to == to; });
  if (found == std::end(kTransitions)) return false;
  return (given & found->required) == found->required &&
         (given & ~(found->required | found->optional)) == 0;
}

}  // namespace softverbs
