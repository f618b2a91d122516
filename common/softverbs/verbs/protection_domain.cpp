#include "common/softverbs/verbs/protection_domain.h"

#include <cerrno>

#include "common/softverbs/export.h"
#include "common/softverbs/verbs/process.h"

using softverbs::Context;
using softverbs::ProtectionDomain;

SOFTVERBS_EXPORT ibv_pd* ibv_alloc_pd(ibv_context* context) {
  if (Context::from(context)->dead()) {
    errno = EIO;
    return nullptr;
  }
  auto* pd = new ProtectionDomain;
  pd->context = context;
  pd->handle = Context::from(context)->process().next_handle();
  Context::from(context)->objects.fetch_add(1);
  return pd;
}

SOFTVERBS_EXPORT int ibv_dealloc_pd(ibv_pd* base) {
  auto* pd = ProtectionDomain::from(base);
  if (pd->users.load() != 0) return EBUSY;
  Context::from(pd->context)->objects.fetch_sub(1);
  delete pd;
  return 0;
}
