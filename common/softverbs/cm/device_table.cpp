#include "common/softverbs/cm/device_table.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <optional>
#include <system_error>

#include "common/softverbs/verbs/settings.h"

namespace softverbs::cm {
namespace {

constexpr int kMaxDepth = 255;  // the field of the connection message is one byte

/// softN is number N.
size_t number_of(ibv_device* device) {
  return std::strtoul(ibv_get_device_name(device) + 4, nullptr, 10);
}

bool is_mapped(const ibv_gid& gid) {
  const SocketAddress v4 = SocketAddress::loopback(AF_INET);
  return std::memcmp(&gid, v4.gid().raw, sizeof(gid) - sizeof(in_addr)) == 0;
}

uint8_t depth(int limit) {
  return static_cast<uint8_t>(std::clamp(limit, 0, kMaxDepth));
}

}  // namespace

Device::Device(ibv_device* handle)
    : context(ibv_open_device(handle)), iwarp(handle->transport_type == IBV_TRANSPORT_IWARP) {
  if (context == nullptr) {
    throw std::system_error(errno != 0 ? errno : ENODEV, std::generic_category());
  }
  try {
    read_limits();
  } catch (...) {
    ibv_close_device(context);
    throw;
  }
}

Device::~Device() {
  if (pd_ != nullptr) ibv_dealloc_pd(pd_);
  ibv_close_device(context);
}

void Device::read_limits() {
  ibv_device_attr limits{};
  if (const int error = ibv_query_device(context, &limits); error != 0) {
    throw std::system_error(error, std::generic_category());
  }
  max_responder_resources = depth(limits.max_qp_rd_atom);
  max_initiator_depth = depth(limits.max_qp_init_rd_atom);
  ibv_port_attr port{};
  if (const int error = ibv_query_port(context, kPort, &port); error != 0) {
    throw std::system_error(error, std::generic_category());
  }
  port_down = port.state == IBV_PORT_DOWN;
  mtu = port.active_mtu;
  max_message_size = port.max_msg_sz;
  for (uint32_t index = 0; index < static_cast<uint32_t>(port.gid_tbl_len); ++index) {
    ibv_gid_entry entry{};
    if (ibv_query_gid_ex(context, kPort, index, &entry, 0) != 0) break;
    gids.push_back(entry.gid);
    gid_types.push_back(entry.gid_type);
  }
}

uint8_t Device::gid_index(const SocketAddress& address) const {
  const ibv_gid wanted = address.gid();
  const bool wants_mapped = is_mapped(wanted);
  std::optional<size_t> own;
  for (size_t index = 0; index < gids.size(); ++index) {
    if (gid_types[index] == IBV_GID_TYPE_ROCE_V1) continue;
    if (std::memcmp(&gids[index], &wanted, sizeof(wanted)) == 0) return static_cast<uint8_t>(index);
    if (!own && is_mapped(gids[index]) == wants_mapped) own = index;
  }
  return static_cast<uint8_t>(own.value_or(0));
}

ibv_pd* Device::default_pd() {
  if (pd_ == nullptr) pd_ = ibv_alloc_pd(context);
  return pd_;
}

DeviceTable::DeviceTable() : devices_(static_cast<size_t>(Settings::get().devices)) {
  open_new();
  if (present().empty()) throw std::system_error(ENODEV, std::generic_category());
}

std::vector<std::shared_ptr<Device>> DeviceTable::refresh() {
  std::vector<std::shared_ptr<Device>> removed;
  for (auto& device : devices_) {
    ibv_port_attr port{};
    if (device == nullptr) continue;
    if (ibv_query_port(device->context, kPort, &port) != 0) {
      removed.push_back(std::move(device));
      device.reset();
    } else {
      device->port_down = port.state == IBV_PORT_DOWN;
    }
  }
  try {
    open_new();
  } catch (const std::system_error&) {
    // It has gone again, or there are no descriptors left: it is as if it were not there.
  }
  return removed;
}

void DeviceTable::open_new() {
  ibv_device** const list = ibv_get_device_list(nullptr);
  if (list == nullptr) throw std::system_error(errno, std::generic_category());
  const std::unique_ptr<ibv_device*, decltype(&ibv_free_device_list)> owner(list,
                                                                            ibv_free_device_list);
  for (ibv_device** each = list; *each != nullptr; ++each) {
    auto& place = devices_[number_of(*each)];
    if (place == nullptr) place = std::make_shared<Device>(*each);
  }
}

std::shared_ptr<Device> DeviceTable::for_address(const SocketAddress& address) const {
  const size_t count = devices_.size();
  return devices_[(address.last_byte() + count - 1) % count];
}

bool DeviceTable::is_cut_off(const SocketAddress& address) const {
  const auto device = for_address(address);
  return device == nullptr || device->port_down;
}

std::vector<std::shared_ptr<Device>> DeviceTable::present() const {
  std::vector<std::shared_ptr<Device>> those;
  std::copy_if(devices_.begin(), devices_.end(), std::back_inserter(those),
               [](const auto& device) { return device != nullptr; });
  return those;
}

ibv_pd* DeviceTable::default_pd(const ibv_context* context) const {
  for (const auto& device : devices_) {
    if (device != nullptr && device->context == context) return device->default_pd();
  }
  errno = EINVAL;
  return nullptr;
}

}  // namespace softverbs::cm
