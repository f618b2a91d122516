#pragma once

#include <vector>

#include "common/cm/cm_id.h"

namespace rdmablk::cm {

/// Whether messages of connection set-up cannot leave, as the port is down. Soft-RoCE takes the
/// attempt for an error of the port's own queue pair, through which the kernel sends them for all
/// programs: until the device is made anew, no connection comes about over it (Linux 6.12).
bool is_port_down(const rdma_cm_id& id) noexcept;

/// Destroys identifiers of connections, which tells the peer; those whose port is down only when it
/// is up again. Used by one thread.
class IdDisposal {
 public:
  /// The queue pair must be gone. Events of the identifier are of no interest from here on, and its
  /// context is null.
  void take(CmId id);

  /// Destroys what can be.
  void retry() noexcept;

  /// Destroys those of a device that is gone.
  void forget(const ibv_context* device) noexcept;

 private:
  std::vector<CmId> waiting_;
};

}  // namespace rdmablk::cm
