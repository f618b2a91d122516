// Functions of librdmacm that the software device has no use for: they say so.

#include <rdma/rdma_cma.h>

#include <cerrno>

#include "common/softverbs/cm/api.h"

using softverbs::cm::fail;

SOFTVERBS_EXPORT int rdma_join_multicast(rdma_cm_id* /*id*/, sockaddr* /*addr*/,
                                         void* /*context*/) {
  return fail(ENOSYS);
}

SOFTVERBS_EXPORT int rdma_join_multicast_ex(rdma_cm_id* /*id*/,
                                            rdma_cm_join_mc_attr_ex* /*mc_join_attr*/,
                                            void* /*context*/) {
  return fail(ENOSYS);
}

SOFTVERBS_EXPORT int rdma_leave_multicast(rdma_cm_id* /*id*/, sockaddr* /*addr*/) {
  return fail(ENOSYS);
}

SOFTVERBS_EXPORT int rdma_set_local_ece(rdma_cm_id* /*id*/, ibv_ece* /*ece*/) {
  return fail(EOPNOTSUPP);
}

/// A peer without enhanced connection establishment shows as a vendor of 0.
SOFTVERBS_EXPORT int rdma_get_remote_ece(rdma_cm_id* id, ibv_ece* ece) {
  if (id == nullptr || ece == nullptr) return fail(EINVAL);
  *ece = {};
  return 0;
}
