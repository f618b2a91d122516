#include "common/softverbs/verbs/gid_table.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>

#include "common/softverbs/verbs/settings.h"

namespace softverbs {
namespace {

/// A locally administered MAC address, so nobody's; Device::guid() is made of it, too.
std::array<uint8_t, 6> mac_of(int device) {
  return {0x02, 0x53, 0x4f, 0x00, 0x00, static_cast<uint8_t>(device + 1)};
}

/// siw has the MAC address itself for a GID.
ibv_gid iwarp_gid(int device) {
  ibv_gid gid{};
  const auto mac = mac_of(device);
  std::copy(mac.begin(), mac.end(), gid.raw);
  return gid;
}

/// The IPv6 address that RFC 4291 makes of the MAC address.
ibv_gid link_local_gid(int device) {
  const auto mac = mac_of(device);
  return {{0xfe, 0x80, 0, 0, 0, 0, 0, 0, static_cast<uint8_t>(mac[0] ^ 2), mac[1], mac[2], 0xff,
           0xfe, mac[3], mac[4], mac[5]}};
}

ibv_gid mapped(const in_addr& address) {
  ibv_gid gid{};
  gid.raw[10] = gid.raw[11] = 0xff;
  std::memcpy(&gid.raw[12], &address, sizeof address);
  return gid;
}

/// 127.0.0.1 for the first device, 127.0.0.2 for the second.
ibv_gid loopback_gid(int device) {
  return mapped({htonl(INADDR_LOOPBACK + static_cast<uint32_t>(device))});
}

bool same(const ibv_gid& a, const ibv_gid& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

bool to_gid(const sockaddr& address, ibv_gid& gid) {
  if (address.sa_family == AF_INET) {
    gid = mapped(reinterpret_cast<const sockaddr_in&>(address).sin_addr);
  } else if (address.sa_family == AF_INET6) {
    const auto& v6 = reinterpret_cast<const sockaddr_in6&>(address);
    std::memcpy(gid.raw, &v6.sin6_addr, sizeof gid.raw);
  } else {
    return false;
  }
  return true;
}

}  // namespace

bool is_mapped(const ibv_gid& gid) {
  constexpr size_t kPrefix = sizeof gid - sizeof(in_addr);
  return std::memcmp(&gid, loopback_gid(0).raw, kPrefix) == 0;
}

bool is_link_local(const ibv_gid& gid) {
  return gid.raw[0] == 0xfe && (gid.raw[1] & 0xc0) == 0x80;
}

int device_of(const ibv_gid& gid) {
  const int count = Settings::get().devices;
  for (int device = 0; device < count; ++device) {
    if (same(gid, link_local_gid(device)) || same(gid, iwarp_gid(device))) return device;
  }
  return (gid.raw[15] + count - 1) % count;
}

GidTable::GidTable(int device) {
  if (Settings::get().iwarp()) {
    entries_.push_back({iwarp_gid(device), IBV_GID_TYPE_IB, if_nametoindex("lo")});
    return;
  }
  const uint32_t loopback = if_nametoindex("lo");
  add(link_local_gid(device), loopback);
  add(loopback_gid(device), loopback);
  add_local_addresses(device);
}

void GidTable::add_local_addresses(int device) {
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) != 0) return;
  const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
      if (each->ifa_addr == nullptr || !(each->ifa_flags & IFF_UP)) continue;
      ibv_gid gid{};
      if (each->ifa_addr->sa_family != family || !to_gid(*each->ifa_addr, gid)) continue;
      if (device_of(gid) == device) add(gid, if_nametoindex(each->ifa_name));
    }
  }
}

void GidTable::add(const ibv_gid& gid, uint32_t interface_index) {
  if (contains(gid) || entries_.size() + 2 > kSize) return;
  entries_.push_back({gid, IBV_GID_TYPE_ROCE_V1, interface_index});
  entries_.push_back({gid, IBV_GID_TYPE_ROCE_V2, interface_index});
}

const GidEntry* GidTable::find(uint32_t index) const {
  return index < entries_.size() ? &entries_[index] : nullptr;
}

bool GidTable::contains(const ibv_gid& gid) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const GidEntry& entry) { return same(entry.gid, gid); });
}

}  // namespace softverbs
