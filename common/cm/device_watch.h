#pragma once

#include <asio/io_context.hpp>
#include <asio/steady_timer.hpp>
#include <chrono>
#include <memory>
#include <optional>
#include <vector>

#include "common/cm/connection.h"
#include "common/descriptor_watch.h"
#include "common/lifetime.h"
#include "common/unique_fd.h"

namespace rdmablk::cm {

/// Is told of devices, from the event loop.
class DeviceHandler {
 public:
  virtual ~DeviceHandler() = default;

  /// One is there that was not there before.
  virtual void on_device_come(ibv_context* device) = 0;

  /// One is gone. It stays open until DeviceWatch::let_go(), which is due when nothing is left that
  /// was made with it; the kernel has who removes the device wait for that. May call it from
  /// within.
  virtual void on_device_gone(ibv_context* device) = 0;
};

/// Notices when RDMA devices are removed and when others come. The kernel's own messages about
/// devices (netlink(7), NETLINK_KOBJECT_UEVENT) tell when to look, and so does the removal of a
/// device from under a connection; where neither comes, a look every few seconds does. Nothing else
/// tells: soft-RoCE reports no asynchronous event when it is removed, and a listener on all
/// addresses hears nothing either (Linux 6.12). Used by the thread that runs the io_context.
class DeviceWatch {
 public:
  static constexpr std::chrono::seconds kPeriod{5};

  /// @param managers that share their devices; there is one. @param handler outlives this, as io
  /// and the managers do.
  DeviceWatch(asio::io_context& io, std::vector<ConnectionManager*> managers,
              DeviceHandler& handler);
  ~DeviceWatch();
  DeviceWatch(const DeviceWatch&) = delete;
  DeviceWatch& operator=(const DeviceWatch&) = delete;

  /// Looks now, and tells what has changed.
  void look();

  /// The same soon, from the event loop: something hints that it has changed.
  void look_soon();

  /// Closes a device that on_device_gone() told of. @pre nothing is left that was made with it.
  void let_go(ibv_context* device) noexcept;

 private:
  void wait(std::chrono::milliseconds time);
  void take_messages();

  asio::io_context& io_;
  std::vector<ConnectionManager*> managers_;
  DeviceHandler& handler_;
  std::shared_ptr<Devices> devices_;
  asio::steady_timer timer_;
  UniqueFd messages_;  ///< of the kernel; none where it does not give them
  std::optional<DescriptorWatch> watch_;
  Lifetime lifetime_;
};

}  // namespace rdmablk::cm
