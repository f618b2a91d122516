#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "common/softverbs/cm/socket_address.h"

namespace softverbs::cm {

/// One opened device as the connection manager sees it. What it can do is read once, when it is
/// opened. It is closed when nobody has it any more, neither the table nor an id nor a list of
/// rdma_get_devices(3).
struct Device {
  explicit Device(ibv_device* handle);
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  ~Device();

  ibv_context* context = nullptr;
  bool iwarp = false;
  bool port_down = false;
  uint8_t max_responder_resources = 0;
  uint8_t max_initiator_depth = 0;
  ibv_mtu mtu = IBV_MTU_1024;
  uint32_t max_message_size = 0;
  std::vector<ibv_gid> gids;
  std::vector<uint32_t> gid_types;

  /// The index of the GID that belongs to `address`, else of the device's own loopback or
  /// link-local address of that family: the RoCE v2 one, as the kernel chooses.
  [[nodiscard]] uint8_t gid_index(const SocketAddress& address) const;

  /// The one protection domain for ids that bring none.
  /// @return null with errno set when it cannot be allocated.
  ibv_pd* default_pd();

 private:
  void read_limits();

  ibv_pd* pd_ = nullptr;
};

constexpr uint8_t kPort = 1;

/// Every RDMA device that is there, opened once, as librdmacm does. Needs the process's lock.
///
/// Addresses belong to devices: the last byte of the address less one, modulo the number of
/// devices in the order of their names. 127.0.0.1 and ::1 are the first device's.
class DeviceTable {
 public:
  /// @throws std::system_error ENODEV when there is none, or what opening failed with.
  DeviceTable();

  /// @return null when it has been removed.
  [[nodiscard]] std::shared_ptr<Device> for_address(const SocketAddress& address) const;
  /// Whether nothing reaches this address: its device is not there, or its port is down.
  [[nodiscard]] bool is_cut_off(const SocketAddress& address) const;
  /// Those that are there, in the order of their names.
  [[nodiscard]] std::vector<std::shared_ptr<Device>> present() const;
  /// As Device::default_pd of the device with this context.
  ibv_pd* default_pd(const ibv_context* context) const;
  /// Looks again which devices are there, and which ports are up.
  /// @return those that have been removed.
  std::vector<std::shared_ptr<Device>> refresh();

 private:
  void open_new();

  std::vector<std::shared_ptr<Device>> devices_;  ///< By number; null for one that was removed.
};

}  // namespace softverbs::cm
