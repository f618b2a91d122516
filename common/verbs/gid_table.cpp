#include "common/verbs/gid_table.h"

#include <cstddef>
#include <cstdint>

namespace rdmablk::verbs {
namespace {

/// Room for the entries of all ports.
std::size_t capacity_of(ibv_context* device) {
  ibv_device_attr attributes{};
  if (ibv_query_device(device, &attributes) != 0) return 0;
  std::size_t capacity = 0;
  for (std::uint8_t number = 1; number <= attributes.phys_port_cnt; ++number) {
    ibv_port_attr port{};
    if (ibv_query_port(device, number, &port) != 0 || port.gid_tbl_len < 0) continue;
    capacity += static_cast<std::size_t>(port.gid_tbl_len);
  }
  return capacity;
}

}  // namespace

std::vector<ibv_gid_entry> gid_table(ibv_context* device) {
  std::vector<ibv_gid_entry> entries(capacity_of(device));
  const auto count = ibv_query_gid_table(device, entries.data(), entries.size(), 0);
  entries.resize(count < 0 ? 0 : static_cast<std::size_t>(count));
  return entries;
}

const char* gid_type_name(unsigned gid_type) noexcept {
  switch (gid_type) {
    case IBV_GID_TYPE_ROCE_V1:
      return "RoCE v1";
    case IBV_GID_TYPE_ROCE_V2:
      return "RoCE v2";
    default:
      return "InfiniBand";
  }
}

}  // namespace rdmablk::verbs
