#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/verbs/protection_domain.h"
#include "initiator/memory_keys.h"
#include "initiator/registration.h"

namespace rdmablk::initiator {

class SessionDevice;

/// Which memory of a session is to be reached by which devices. Any thread.
class DeviceTable {
 public:
  /// Registers with all devices that there are. Throws verbs::MemlockError or SystemError.
  void add(Registration& registration);
  void remove(Registration& registration) noexcept;

  /// Registers all that there is with one more device. Throws, too, when there are too many.
  /// @return its number.
  unsigned add(SessionDevice& device);
  void remove(const SessionDevice& device) noexcept;

 private:
  std::mutex mutex_;
  std::vector<Registration*> registrations_;
  std::array<SessionDevice*, kMaxDevices> devices_{};
};

/// A device that a session uses: all its memory is registered there. Whoever has something on the
/// device holds it, so that the last one to let go of it drops the registrations and the protection
/// domain, and nothing of the session keeps a device from being removed.
class SessionDevice {
 public:
  /// @param context outlives it. Throws verbs::MemlockError, SystemError or Error.
  SessionDevice(std::shared_ptr<DeviceTable> table, ibv_context* context);
  ~SessionDevice();
  SessionDevice(const SessionDevice&) = delete;
  SessionDevice& operator=(const SessionDevice&) = delete;

  /// Where the queues on it and the memory of requests meet.
  const verbs::ProtectionDomain& domain() const noexcept { return domain_; }
  ibv_context* context() const noexcept { return domain_.context(); }
  const std::string& name() const noexcept { return name_; }

  /// Among the session's; that of one that is gone may be another's later.
  unsigned number() const noexcept { return number_; }

 private:
  std::shared_ptr<DeviceTable> table_;
  std::string name_;
  verbs::ProtectionDomain domain_;
  unsigned number_;
};

/// The devices of a session. Used by the thread that drives the control loop, but for table().
class SessionDevices {
 public:
  /// One that the session uses from now on. Throws as SessionDevice does.
  std::shared_ptr<SessionDevice> use(ibv_context* context);

  /// Lets go of one that is being removed.
  /// @return it, as long as others have something on it.
  std::weak_ptr<SessionDevice> drop(const ibv_context* context) noexcept;

  /// For registrations.
  const std::shared_ptr<DeviceTable>& table() const noexcept { return table_; }

 private:
  std::shared_ptr<DeviceTable> table_ = std::make_shared<DeviceTable>();
  std::vector<std::shared_ptr<SessionDevice>> devices_;
};

}  // namespace rdmablk::initiator
