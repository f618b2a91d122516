#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "common/softverbs/verbs/limits.h"

namespace softverbs {

/// One software device. Never destroyed, so that pointers to it stay valid after
/// ibv_free_device_list. The zeroes behind it are for providers' helpers that look at what
/// follows an `ibv_device` to see whether it is theirs. A device that was removed stays so; when it
/// returns, it is another object of the same name.
struct Device {
  ibv_device base{};
  char nothing[512] = {};
  int index = 0;   ///< softN is N.
  int number = 0;  ///< No two have the same, as the kernel numbers its devices.
  std::atomic<bool> removed{false};
  std::atomic<bool> port_down{false};

  static Device* from(ibv_device* device) { return reinterpret_cast<Device*>(device); }
  [[nodiscard]] __be64 guid() const;
  /// Every other device is on a network whose packets are smaller.
  [[nodiscard]] ibv_mtu active_mtu() const { return index % 2 == 0 ? IBV_MTU_4096 : IBV_MTU_1024; }
};

/// The devices of this process: those that the environment asks for, less those that the faults
/// device-removal have taken away.
class DeviceSet {
 public:
  static DeviceSet& get();

  DeviceSet();

  /// Those that are there.
  std::vector<Device*> present();

  /// Makes the devices what the plan says now, and calls `changed` with each one that was removed
  /// or has returned, or whose port went down or came up, and with the fault.
  template <typename Changed>
  void update(Changed changed) {
    const std::lock_guard lock(mutex_);
    for (int index = 0; index < count_; ++index) {
      const Outages wanted = outages(index);
      auto& device = current_[static_cast<size_t>(index)];
      if (device->removed.load() != wanted.removal) {
        if (!wanted.removal) device = make(index);
        device->removed.store(wanted.removal);
        changed(*device, true);
      }
      if (device->port_down.load() != wanted.port_down) {
        device->port_down.store(wanted.port_down);
        if (!wanted.removal) changed(*device, false);
      }
    }
  }

 private:
  struct Outages {
    bool removal = false;
    bool port_down = false;
  };

  static Outages outages(int index);
  Device* make(int index);

  std::mutex mutex_;
  int count_ = 0;
  int made_ = 0;
  std::array<Device*, kMaxDevices> current_{};
};

}  // namespace softverbs
