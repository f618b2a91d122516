#pragma once

#include <infiniband/verbs.h>

namespace softverbs {

/// Whether ibv_modify_qp may take a reliable connected queue pair from one state to another with
/// these attributes: each transition needs some and admits some more (ibv_modify_qp(3)).
/// \param mask  ibv_qp_attr_mask
bool transition_allowed(ibv_qp_state from, ibv_qp_state to, int mask);

}  // namespace softverbs
