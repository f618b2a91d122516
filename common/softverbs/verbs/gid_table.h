#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <vector>

namespace softverbs {

struct GidEntry {
  ibv_gid gid{};
  ibv_gid_type type = IBV_GID_TYPE_ROCE_V2;
  uint32_t interface_index = 0;
};

/// The GIDs of a device's port. A RoCE port has each as RoCE v1 and, behind that, as RoCE v2, in
/// the order of mlx5: the link-local one made of the port's own MAC address; the IPv4-mapped ones
/// of the host's IPv4 addresses that belong to the device, the loopback address first; its IPv6
/// addresses. An iWARP port has one, made of the MAC address. Fixed when it is made, so that
/// indexes stay what they are; the places behind are empty.
class GidTable {
 public:
  /// How many places there are.
  static constexpr uint32_t kSize = 255;

  /// \param device  its index
  explicit GidTable(int device);
  [[nodiscard]] const std::vector<GidEntry>& entries() const { return entries_; }
  /// \return null when the place is empty, or none.
  [[nodiscard]] const GidEntry* find(uint32_t index) const;
  [[nodiscard]] bool contains(const ibv_gid& gid) const;

 private:
  void add(const ibv_gid& gid, uint32_t interface_index);
  void add_local_addresses(int device);

  std::vector<GidEntry> entries_;
};

/// Whether a GID is made of an IPv4 address.
bool is_mapped(const ibv_gid& gid);
bool is_link_local(const ibv_gid& gid);

/// The index of the device that a GID belongs to: what its MAC address says or, for one made of an
/// IP address, the last byte of that less one, modulo the number of devices.
int device_of(const ibv_gid& gid);

}  // namespace softverbs
