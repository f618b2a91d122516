#include "common/cm/device_addresses.h"

#include <fmt/format.h>
#include <ifaddrs.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>

#include "common/file_text.h"
#include "common/known_error.h"
#include "common/unique_fd.h"
#include "common/verbs/context.h"
#include "common/verbs/gid_table.h"

namespace rdmablk::cm {
namespace {

/// Of the longest address.
constexpr unsigned kAllBits = 128;

/// An address of a network interface.
struct InterfaceAddress {
  SocketAddress address;
  unsigned prefix = 0;
  unsigned index = 0;
  std::string name;
};

/// The addresses of this host, and its interfaces with those of their link.
class Interfaces {
 public:
  Interfaces() {
    ifaddrs* raw = nullptr;
    if (::getifaddrs(&raw) != 0) throw SystemError("list the network interfaces", errno);
    list_.reset(raw);
  }

  std::vector<InterfaceAddress> addresses() const {
    std::vector<InterfaceAddress> result;
    for (const ifaddrs* each = list_.get(); each != nullptr; each = each->ifa_next) {
      if (each->ifa_addr == nullptr || each->ifa_netmask == nullptr) continue;
      const int family = each->ifa_addr->sa_family;
      if (family != AF_INET && family != AF_INET6) continue;
      result.push_back({SocketAddress(*each->ifa_addr), prefix_of(*each->ifa_netmask, family),
                        ::if_nametoindex(each->ifa_name), each->ifa_name});
    }
    return result;
  }

  /// The interface that has an address of the link; 0: none.
  unsigned with_link_address(std::span<const std::uint8_t> wanted) const {
    if (std::ranges::all_of(wanted, [](std::uint8_t byte) { return byte == 0; })) return 0;
    for (const ifaddrs* each = list_.get(); each != nullptr; each = each->ifa_next) {
      if (each->ifa_addr == nullptr || each->ifa_addr->sa_family != AF_PACKET) continue;
      sockaddr_ll link{};
      std::memcpy(&link, each->ifa_addr, sizeof link);
      if (link.sll_halen != wanted.size()) continue;
      if (std::memcmp(static_cast<const void*>(link.sll_addr), wanted.data(), wanted.size()) == 0) {
        return static_cast<unsigned>(link.sll_ifindex);
      }
    }
    return 0;
  }

 private:
  static unsigned prefix_of(const sockaddr& mask, int family) {
    unsigned bits = 0;
    const auto count = [&](std::span<const std::uint8_t> bytes) {
      for (const std::uint8_t byte : bytes) bits += static_cast<unsigned>(std::popcount(byte));
    };
    if (family == AF_INET) {
      sockaddr_in address{};
      std::memcpy(&address, &mask, sizeof address);
      count(std::bit_cast<std::array<std::uint8_t, 4>>(address.sin_addr));
    } else {
      sockaddr_in6 address{};
      std::memcpy(&address, &mask, sizeof address);
      count(std::bit_cast<std::array<std::uint8_t, 16>>(address.sin6_addr));
    }
    return bits;
  }

  struct Free {
    void operator()(ifaddrs* list) const noexcept { ::freeifaddrs(list); }
  };
  std::unique_ptr<ifaddrs, Free> list_;
};

/// Whether something can be sent from it.
bool is_of_this_host(const SocketAddress& address) {
  const UniqueFd socket(::socket(address.family(), SOCK_DGRAM | SOCK_CLOEXEC, 0));
  return socket && ::bind(socket.get(), address.get(), sizeof(sockaddr_storage)) == 0;
}

std::string name_of(unsigned index) {
  std::array<char, IF_NAMESIZE> name{};
  return index != 0 && ::if_indextoname(index, name.data()) != nullptr ? name.data() : "";
}

/// What InfiniBand's GIDs do not tell: the IP interfaces of a port (ipoib), by the device that both
/// belong to.
std::vector<unsigned> ipoib_interfaces(ibv_context* device, unsigned port) {
  namespace fs = std::filesystem;
  std::vector<unsigned> found;
  std::error_code error;
  const fs::path nets =
      fs::path("/sys/class/infiniband") / verbs::device_name(device) / "device/net";
  for (fs::directory_iterator entry(nets, error), end; !error && entry != end;
       entry.increment(error)) {
    const fs::path& net = entry->path();
    const bool is_ipoib = read_file_text((net / "type").string())
                              .value_or("")
                              .starts_with(std::to_string(ARPHRD_INFINIBAND));
    const auto of_port = read_file_text((net / "dev_port").string()).value_or("");
    if (!is_ipoib || of_port != fmt::format("{}\n", port - 1)) continue;
    if (const unsigned index = ::if_nametoindex(net.filename().c_str())) found.push_back(index);
  }
  return found;
}

/// The address that a GID of RoCE stands for.
SocketAddress address_of(const ibv_gid_entry& entry) {
  in6_addr raw{};
  std::memcpy(&raw, entry.gid.raw, sizeof raw);
  if (IN6_IS_ADDR_V4MAPPED(&raw)) {
    constexpr std::size_t kPrefix = 12;
    sockaddr_in address{};
    address.sin_family = AF_INET;
    std::memcpy(&address.sin_addr, &entry.gid.raw[kPrefix], sizeof address.sin_addr);
    return SocketAddress(reinterpret_cast<const sockaddr&>(address));
  }
  sockaddr_in6 address{};
  address.sin6_family = AF_INET6;
  address.sin6_addr = raw;
  if (IN6_IS_ADDR_LINKLOCAL(&raw)) address.sin6_scope_id = entry.ndev_ifindex;
  return SocketAddress(reinterpret_cast<const sockaddr&>(address));
}

/// Collects the addresses of one device.
class Search {
 public:
  Search(ibv_context* device, const Settings& settings)
      : device_(device), settings_(settings), all_(interfaces_.addresses()) {}

  std::vector<DeviceAddress> run() {
    const ibv_device_attr limits = verbs::query_device(device_);
    for (unsigned port = 1; port <= limits.phys_port_cnt; ++port) {
      if (!settings_.port || *settings_.port == port) look_at_port(static_cast<std::uint8_t>(port));
    }
    return std::move(found_);
  }

 private:
  void look_at_port(std::uint8_t port) {
    ibv_port_attr attributes{};
    if (ibv_query_port(device_, port, &attributes) != 0) return;
    const bool is_iwarp = verbs::is_iwarp(device_);
    if (!is_iwarp && attributes.link_layer == IBV_LINK_LAYER_INFINIBAND) {
      for (const unsigned index : ipoib_interfaces(device_, port)) {
        add_interface(index, fmt::format("port {}, IP over InfiniBand", port));
      }
      return;
    }
    for (int index = 0; index < attributes.gid_tbl_len; ++index) {
      if (settings_.gid_index && *settings_.gid_index != index) continue;
      ibv_gid_entry entry{};
      if (ibv_query_gid_ex(device_, port, static_cast<std::uint32_t>(index), &entry, 0) != 0) {
        continue;  // an empty one
      }
      if (is_iwarp) {
        add_interface(interface_of(entry), fmt::format("port {}, iWARP", port));
      } else {
        add_gid(entry, fmt::format("GID {} of port {}, {}", index, port,
                                   verbs::gid_type_name(entry.gid_type)));
      }
    }
  }

  /// iWARP's GID begins with the address of the link; the kernel tells of the interface from Linux
  /// 6.5 on.
  unsigned interface_of(const ibv_gid_entry& entry) const {
    constexpr std::size_t kLinkAddress = 6;
    if (entry.ndev_ifindex != 0) return entry.ndev_ifindex;
    return interfaces_.with_link_address({&entry.gid.raw[0], kLinkAddress});
  }

  void add_interface(unsigned index, const std::string& origin) {
    for (const InterfaceAddress& each : all_) {
      if (each.index == index) add(each, origin);
    }
  }

  /// A GID may be made of the link's address alone, and no address of the host.
  void add_gid(const ibv_gid_entry& entry, const std::string& origin) {
    const SocketAddress address = address_of(entry);
    if (!is_of_this_host(address)) return;
    InterfaceAddress found{address, kAllBits, entry.ndev_ifindex, name_of(entry.ndev_ifindex)};
    for (const InterfaceAddress& each : all_) {
      const bool is_there = found.index == 0 || found.index == each.index;
      if (!is_there || !each.address.shares(address, each.prefix)) continue;
      found.prefix = each.prefix;
      found.name = each.name;
    }
    add(found, origin);
  }

  void add(const InterfaceAddress& each, const std::string& origin) {
    found_.push_back({each.address, each.prefix, each.name, origin});
  }

  ibv_context* device_;
  const Settings& settings_;
  Interfaces interfaces_;
  std::vector<InterfaceAddress> all_;
  std::vector<DeviceAddress> found_;
};

bool suits(const DeviceAddress& source, const SocketAddress& peer) noexcept {
  if (source.address.family() != peer.family()) return false;
  if (source.address.is_link_local() != peer.is_link_local()) return false;
  const unsigned scope = peer.scope();
  return scope == 0 || source.address.scope() == 0 || source.address.scope() == scope;
}

const char* family_name(const SocketAddress& address) {
  if (address.family() == AF_INET) return "IPv4";
  return address.is_link_local() ? "link-local IPv6" : "IPv6";
}

/// "mlx5_0", "port 2 of mlx5_0", "GID 3 of mlx5_0", "any RDMA device".
std::string describe(const Settings& settings) {
  std::string text = settings.device.empty() ? "any RDMA device" : settings.device;
  if (settings.port) text = fmt::format("port {} of {}", *settings.port, text);
  if (settings.gid_index) text = fmt::format("GID {} of {}", *settings.gid_index, text);
  return text;
}

std::string list(std::span<const DeviceAddress> addresses) {
  std::string text;
  for (const DeviceAddress& each : addresses) {
    text += fmt::format("{}{} ({}, {})", text.empty() ? "" : ", ", each.address.host(),
                        each.interface_name, each.origin);
  }
  return text.empty() ? "none" : text;
}

}  // namespace

std::vector<DeviceAddress> addresses_of(ibv_context* device, const Settings& settings) {
  return Search(device, settings).run();
}

const DeviceAddress* choose_source(std::span<const DeviceAddress> addresses,
                                   const SocketAddress& peer) noexcept {
  const DeviceAddress* best = nullptr;
  bool best_is_near = false;
  for (const DeviceAddress& each : addresses) {
    if (!suits(each, peer)) continue;
    const bool is_near = each.address.shares(peer, each.prefix);
    if (best != nullptr && (best_is_near || !is_near)) continue;
    best = &each;
    best_is_near = is_near;
  }
  return best;
}

bool has_source(const Settings& settings) noexcept {
  return !settings.device.empty() || settings.port || settings.gid_index;
}

SocketAddress source_address(std::span<ibv_context* const> devices, const Settings& settings,
                             const SocketAddress& peer) {
  std::vector<ibv_context*> wanted(devices.begin(), devices.end());
  if (!settings.device.empty()) wanted = {find_device(devices, settings.device)};
  std::vector<DeviceAddress> addresses;
  for (ibv_context* const device : wanted) {
    for (DeviceAddress& each : addresses_of(device, settings)) {
      addresses.push_back(std::move(each));
    }
  }
  if (const DeviceAddress* const source = choose_source(addresses, peer)) return source->address;
  throw KnownError(
      EADDRNOTAVAIL,
      fmt::format("cannot reach {} over {}: it has no {} address to connect from; there are: {}",
                  peer.text(), describe(settings), family_name(peer), list(addresses)));
}

ibv_context* find_device(std::span<ibv_context* const> devices, const std::string& name) {
  std::string names;
  for (ibv_context* const device : devices) {
    if (verbs::device_name(device) == name) return device;
    names += (names.empty() ? "" : ", ") + verbs::device_name(device);
  }
  throw KnownError(ENODEV, fmt::format("there is no RDMA device '{}'; those there are: {}", name,
                                       names.empty() ? "none" : names));
}

}  // namespace rdmablk::cm
