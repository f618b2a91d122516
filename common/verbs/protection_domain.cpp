#include "common/verbs/protection_domain.h"

#include <fmt/format.h>

#include "common/error.h"
#include "common/verbs/context.h"

namespace rdmablk::verbs {

ProtectionDomain::ProtectionDomain(ibv_context* context) : pd_(ibv_alloc_pd(context)) {
  if (!pd_) {
    throw SystemError(fmt::format("allocate a protection domain on {}", device_name(context)),
                      errno);
  }
}

}  // namespace rdmablk::verbs
