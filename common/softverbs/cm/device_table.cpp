#include "common/softverbs/cm/device_table.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>

namespace softverbs::cm {
namespace {

constexpr int kMaxDepth = 255;  // the field of the connection message is one byte

bool is_mapped(const ibv_gid& gid) {
  const SocketAddress v4 = SocketAddress::loopback(AF_INET);
  return std::memcmp(&gid, v4.gid().raw, sizeof(gid) - sizeof(in_addr)) == 0;
}

uint8_t depth(int limit) {
  return static_cast<uint8_t>(std::clamp(limit, 0, kMaxDepth));
}

std::unique_ptr<Device> open_device(ibv_device* handle) {
  auto device = std::make_unique<Device>();
  device->context = ibv_open_device(handle);
  if (device->context == nullptr) {
    throw std::system_error(errno != 0 ? errno : ENODEV, std::generic_category());
  }
  device->iwarp = handle->transport_type == IBV_TRANSPORT_IWARP;
  ibv_device_attr limits{};
  if (const int error = ibv_query_device(device->context, &limits); error != 0) {
    throw std::system_error(error, std::generic_category());
  }
  device->max_responder_resources = depth(limits.max_qp_rd_atom);
  device->max_initiator_depth = depth(limits.max_qp_init_rd_atom);
  ibv_port_attr port{};
  if (const int error = ibv_query_port(device->context, kPort, &port); error != 0) {
    throw std::system_error(error, std::generic_category());
  }
  device->mtu = port.active_mtu;
  device->max_message_size = port.max_msg_sz;
  for (uint32_t index = 0; index < static_cast<uint32_t>(port.gid_tbl_len); ++index) {
    ibv_gid_entry entry{};
    if (ibv_query_gid_ex(device->context, kPort, index, &entry, 0) != 0) break;
    device->gids.push_back(entry.gid);
    device->gid_types.push_back(entry.gid_type);
  }
  return device;
}

}  // namespace

uint8_t Device::gid_index(const SocketAddress& address) const {
  const ibv_gid wanted = address.gid();
  std::optional<size_t> own;
  for (size_t index = 0; index < gids.size(); ++index) {
    if (gid_types[index] == IBV_GID_TYPE_ROCE_V1) continue;
    if (std::memcmp(&gids[index], &wanted, sizeof(wanted)) == 0) return static_cast<uint8_t>(index);
    if (!own && is_mapped(gids[index])) own = index;
  }
  return static_cast<uint8_t>(own.value_or(0));
}

DeviceTable::DeviceTable() {
  int count = 0;
  ibv_device** list = ibv_get_device_list(&count);
  if (list == nullptr) throw std::system_error(errno, std::generic_category());
  std::vector<ibv_device*> handles(list, list + count);
  std::sort(handles.begin(), handles.end(), [](ibv_device* a, ibv_device* b) {
    const std::string first = ibv_get_device_name(a);
    const std::string second = ibv_get_device_name(b);
    return first.size() != second.size() ? first.size() < second.size() : first < second;
  });
  try {
    for (ibv_device* handle : handles) devices_.push_back(open_device(handle));
  } catch (...) {
    for (const auto& device : devices_) ibv_close_device(device->context);
    ibv_free_device_list(list);
    throw;
  }
  ibv_free_device_list(list);
  if (devices_.empty()) throw std::system_error(ENODEV, std::generic_category());
  default_pds_.resize(devices_.size());
}

const Device& DeviceTable::for_address(const SocketAddress& address) const {
  const size_t count = devices_.size();
  return *devices_[(address.last_byte() + count - 1) % count];
}

ibv_pd* DeviceTable::default_pd(const ibv_context* context) {
  const std::scoped_lock lock(mutex_);
  for (size_t index = 0; index < devices_.size(); ++index) {
    if (devices_[index]->context != context) continue;
    if (default_pds_[index] == nullptr)
      default_pds_[index] = ibv_alloc_pd(devices_[index]->context);
    return default_pds_[index];
  }
  errno = EINVAL;
  return nullptr;
}

}  // namespace softverbs::cm
