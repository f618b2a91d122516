// Functions of libibverbs that need a device and that these devices do not offer: shared receive
// queues, datagrams and imported objects. They fail as on a device without them; were they left to
// the real library, it would take our objects for its own.
#include <infiniband/verbs.h>

#include <cerrno>

#include "common/softverbs/export.h"

namespace {

template <typename Object>
Object* no_object() {
  errno = EOPNOTSUPP;
  return nullptr;
}

}  // namespace

SOFTVERBS_EXPORT ibv_srq* ibv_create_srq(ibv_pd*, ibv_srq_init_attr*) {
  return no_object<ibv_srq>();
}
SOFTVERBS_EXPORT int ibv_modify_srq(ibv_srq*, ibv_srq_attr*, int) {
  return EOPNOTSUPP;
}
SOFTVERBS_EXPORT int ibv_query_srq(ibv_srq*, ibv_srq_attr*) {
  return EOPNOTSUPP;
}
SOFTVERBS_EXPORT int ibv_destroy_srq(ibv_srq*) {
  return EOPNOTSUPP;
}

SOFTVERBS_EXPORT ibv_ah* ibv_create_ah(ibv_pd*, ibv_ah_attr*) {
  return no_object<ibv_ah>();
}
SOFTVERBS_EXPORT ibv_ah* ibv_create_ah_from_wc(ibv_pd*, ibv_wc*, ibv_grh*, uint8_t) {
  return no_object<ibv_ah>();
}
SOFTVERBS_EXPORT int ibv_init_ah_from_wc(ibv_context*, uint8_t, ibv_wc*, ibv_grh*, ibv_ah_attr*) {
  return EOPNOTSUPP;
}
SOFTVERBS_EXPORT int ibv_destroy_ah(ibv_ah*) {
  return EOPNOTSUPP;
}
SOFTVERBS_EXPORT int ibv_attach_mcast(ibv_qp*, const ibv_gid*, uint16_t) {
  return EOPNOTSUPP;
}
SOFTVERBS_EXPORT int ibv_detach_mcast(ibv_qp*, const ibv_gid*, uint16_t) {
  return EOPNOTSUPP;
}

SOFTVERBS_EXPORT ibv_pd* ibv_import_pd(ibv_context*, uint32_t) {
  return no_object<ibv_pd>();
}
SOFTVERBS_EXPORT void ibv_unimport_pd(ibv_pd*) {}
SOFTVERBS_EXPORT ibv_mr* ibv_import_mr(ibv_pd*, uint32_t) {
  return no_object<ibv_mr>();
}
SOFTVERBS_EXPORT void ibv_unimport_mr(ibv_mr*) {}
SOFTVERBS_EXPORT ibv_dm* ibv_import_dm(ibv_context*, uint32_t) {
  return no_object<ibv_dm>();
}
SOFTVERBS_EXPORT void ibv_unimport_dm(ibv_dm*) {}

// Nothing is pinned, so copy-on-write after fork() moves no registered page away from its owner.
SOFTVERBS_EXPORT int ibv_fork_init() {
  return 0;
}
SOFTVERBS_EXPORT ibv_fork_status ibv_is_fork_initialized() {
  return IBV_FORK_UNNEEDED;
}
