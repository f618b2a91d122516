#pragma once

#include <infiniband/verbs.h>

#include <cstdint>
#include <vector>

namespace softverbs {

struct GidEntry {
  ibv_gid gid{};
  uint32_t interface_index = 0;
};

/// The GIDs of a port: the IPv4-mapped address of each local IPv4 address (127.0.0.1 first), then
/// each local IPv6 address. Fixed when it is made, so that indexes stay what they are.
class GidTable {
 public:
  GidTable();
  [[nodiscard]] const std::vector<GidEntry>& entries() const { return entries_; }
  [[nodiscard]] bool contains(const ibv_gid& gid) const;

 private:
  std::vector<GidEntry> entries_;
};

}  // namespace softverbs
