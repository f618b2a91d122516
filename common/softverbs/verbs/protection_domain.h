#pragma once

#include <infiniband/verbs.h>

#include <atomic>

#include "common/softverbs/verbs/context.h"

namespace softverbs {

/// What `ibv_alloc_pd` hands out. `handle` is unique in the process and is what peers compare.
struct ProtectionDomain : ibv_pd {
  /// Memory regions and queue pairs that live in it; it cannot be freed before them.
  std::atomic<int> users{0};

  static ProtectionDomain* from(ibv_pd* pd) { return static_cast<ProtectionDomain*>(pd); }
  [[nodiscard]] Process& process() const { return Context::from(context)->process(); }
};

}  // namespace softverbs
