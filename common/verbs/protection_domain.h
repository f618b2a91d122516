#pragma once

#include <infiniband/verbs.h>

#include <memory>

namespace rdmablk::verbs {

/// A protection domain (ibv_alloc_pd(3)): queue pairs reach the memory regions of their own only.
/// Outlives both.
class ProtectionDomain {
 public:
  /// @param context an open device, which outlives the protection domain. Throws SystemError.
  explicit ProtectionDomain(ibv_context* context);

  ibv_pd* get() const noexcept { return pd_.get(); }
  ibv_context* context() const noexcept { return pd_->context; }

 private:
  struct Dealloc {
    void operator()(ibv_pd* pd) const noexcept { ibv_dealloc_pd(pd); }
  };
  std::unique_ptr<ibv_pd, Dealloc> pd_;
};

}  // namespace rdmablk::verbs
