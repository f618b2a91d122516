#pragma once

#include <infiniband/verbs.h>

#include <map>
#include <memory>
#include <vector>

#include "common/cm/device_watch.h"
#include "common/verbs/device_events.h"
#include "initiator/session_device.h"

namespace rdmablk::initiator {

class RdmaSession;

/// Sees to it that the devices of this host may come and go while a session uses them: what goes
/// over one that is removed ends, and once nothing is left on it, it is let go of, so that whoever
/// removes it need not wait any longer. Logs what devices report. Used by the thread that drives
/// the control loop.
class DeviceKeeper final : private cm::DeviceHandler {
 public:
  /// @param session outlives it.
  explicit DeviceKeeper(RdmaSession& session);
  ~DeviceKeeper() override;
  DeviceKeeper(const DeviceKeeper&) = delete;
  DeviceKeeper& operator=(const DeviceKeeper&) = delete;

  /// Lets go of the devices that are gone and that nothing is left on. To be called when
  /// connections were destroyed.
  void let_go() noexcept;

 private:
  struct Gone {
    ibv_context* device;
    std::weak_ptr<SessionDevice> use;
  };

  void on_device_come(ibv_context* device) override;
  void on_device_gone(ibv_context* device) override;
  void watch_events(ibv_context* device);
  void on_event(const ibv_context* device, ibv_event_type type);

  RdmaSession& session_;
  std::map<ibv_context*, verbs::DeviceEvents> events_;
  std::vector<Gone> gone_;
  cm::DeviceWatch watch_;
};

}  // namespace rdmablk::initiator
