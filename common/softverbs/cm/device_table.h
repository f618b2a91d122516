#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/softverbs/cm/socket_address.h"

namespace softverbs::cm {

/// One opened device as the connection manager sees it. All of it but the default protection
/// domain is read once, when the device is opened.
struct Device {
  ibv_context* context = nullptr;
  bool iwarp = false;
  uint8_t max_responder_resources = 0;
  uint8_t max_initiator_depth = 0;
  ibv_mtu mtu = IBV_MTU_1024;
  uint32_t max_message_size = 0;
  std::vector<ibv_gid> gids;
  std::vector<uint32_t> gid_types;

  /// The index of the GID that belongs to `address`, else of the device's own loopback address: the
  /// RoCE v2 one, as the kernel chooses.
  [[nodiscard]] uint8_t gid_index(const SocketAddress& address) const;
};

constexpr uint8_t kPort = 1;

/// Every RDMA device, opened once and kept open while the process lives, as librdmacm does.
///
/// Addresses belong to devices: the last byte of the address less one, modulo the number of
/// devices in the order of their names. 127.0.0.1 and ::1 are the first device's.
/// Immutable once built, save for the protection domains, which have a lock.
class DeviceTable {
 public:
  /// @throws std::system_error ENODEV when there is none, or what opening failed with.
  DeviceTable();

  [[nodiscard]] const Device& for_address(const SocketAddress& address) const;
  [[nodiscard]] const std::vector<std::unique_ptr<Device>>& all() const { return devices_; }
  /// The device's one protection domain for ids that bring none.
  /// @return null with errno set when it cannot be allocated.
  ibv_pd* default_pd(const ibv_context* context);

 private:
  std::vector<std::unique_ptr<Device>> devices_;
  std::mutex mutex_;
  std::vector<ibv_pd*> default_pds_;
};

}  // namespace softverbs::cm
