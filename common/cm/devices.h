#pragma once

#include <infiniband/verbs.h>

#include <memory>
#include <span>

namespace rdmablk::cm {

/// The RDMA devices of this host, open as long as this lives.
class Devices {
 public:
  Devices() = default;
  virtual ~Devices() = default;
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  virtual std::span<ibv_context* const> get() const noexcept = 0;
};

/// The devices as rdma_cm has opened them (rdma_get_devices(3)): its identifiers take nothing that
/// was made with another context. Throws Error when this host has none.
std::unique_ptr<Devices> open_rdmacm_devices();

/// The same for a host where rdma_cm need not work (ibv_open_device(3)).
std::unique_ptr<Devices> open_verbs_devices();

}  // namespace rdmablk::cm
