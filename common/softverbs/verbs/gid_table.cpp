#include "common/softverbs/verbs/gid_table.h"

#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>
#include <memory>

namespace softverbs {
namespace {

/// The index of a GID in a port's table is 8 bits in a queue pair's address vector.
constexpr size_t kMaxEntries = 255;

ibv_gid mapped(const in_addr& address) {
  ibv_gid gid{};
  gid.raw[10] = gid.raw[11] = 0xff;
  std::memcpy(&gid.raw[12], &address, sizeof address);
  return gid;
}

bool same(const ibv_gid& a, const ibv_gid& b) {
  return std::memcmp(&a, &b, sizeof a) == 0;
}

}  // namespace

GidTable::GidTable() {
  std::vector<GidEntry> ipv6;
  const auto add = [](std::vector<GidEntry>& entries, const ibv_gid& gid, uint32_t interface) {
    const auto equal = [&](const GidEntry& entry) { return same(entry.gid, gid); };
    if (std::none_of(entries.begin(), entries.end(), equal)) entries.push_back({gid, interface});
  };
  add(entries_, mapped({htonl(INADDR_LOOPBACK)}), if_nametoindex("lo"));
  ifaddrs* list = nullptr;
  if (getifaddrs(&list) == 0) {
    const std::unique_ptr<ifaddrs, decltype(&freeifaddrs)> owner(list, freeifaddrs);
    for (const ifaddrs* each = list; each != nullptr; each = each->ifa_next) {
      if (each->ifa_addr == nullptr || !(each->ifa_flags & IFF_UP)) continue;
      const uint32_t interface = if_nametoindex(each->ifa_name);
      if (each->ifa_addr->sa_family == AF_INET) {
        sockaddr_in address{};
        std::memcpy(&address, each->ifa_addr, sizeof address);
        add(entries_, mapped(address.sin_addr), interface);
      } else if (each->ifa_addr->sa_family == AF_INET6) {
        sockaddr_in6 address{};
        std::memcpy(&address, each->ifa_addr, sizeof address);
        ibv_gid gid{};
        std::memcpy(gid.raw, &address.sin6_addr, sizeof gid.raw);
        add(ipv6, gid, interface);
      }
    }
  }
  entries_.insert(entries_.end(), ipv6.begin(), ipv6.end());
  if (entries_.size() > kMaxEntries) entries_.resize(kMaxEntries);
}

bool GidTable::contains(const ibv_gid& gid) const {
  return std::any_of(entries_.begin(), entries_.end(),
                     [&](const GidEntry& entry) { return same(entry.gid, gid); });
}

}  // namespace softverbs
