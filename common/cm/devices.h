#pragma once

#include <infiniband/verbs.h>

#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace rdmablk::cm {

/// What has become of the devices since they were looked at the last time.
struct DeviceChanges {
  std::vector<ibv_context*> gone;
  std::vector<ibv_context*> come;
};

/// The RDMA devices of this host, open. Devices may be removed while this lives, and others come:
/// look() finds out, and DeviceWatch says when to look. All is for one thread, which is that of the
/// managers that share it.
class Devices {
 public:
  Devices() = default;
  virtual ~Devices() = default;
  Devices(const Devices&) = delete;
  Devices& operator=(const Devices&) = delete;

  /// Those that there were when they were last looked at.
  virtual std::span<ibv_context* const> get() const noexcept = 0;

  /// Looks which there are by now, and opens those that are new. One that is gone stays open, so
  /// that what was made with it can be destroyed, until let_go(). One that comes back under the
  /// same name is another one. Takes some hundred microseconds. Throws SystemError.
  virtual DeviceChanges look() = 0;

  /// Closes a device that is gone. The kernel has who removes it wait until everybody has done so.
  /// @pre nothing is left that was made with it: no protection domain, no queue, no connection.
  virtual void let_go(ibv_context* gone) noexcept = 0;

  /// Something that a manager was told hints that a device may be gone.
  void suspect() const {
    if (suspected_) suspected_();
  }

  /// @param suspected called then; null: nobody wants to know.
  void on_suspicion(std::function<void()> suspected) { suspected_ = std::move(suspected); }

 private:
  std::function<void()> suspected_;
};

/// The devices as rdma_cm has opened them (rdma_get_devices(3)): its identifiers take nothing that
/// was made with another context. Throws Error when this host has none.
std::unique_ptr<Devices> open_rdmacm_devices();

/// The same for a host where rdma_cm need not work (ibv_open_device(3)).
std::unique_ptr<Devices> open_verbs_devices();

}  // namespace rdmablk::cm
