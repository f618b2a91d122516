#include "common/cm/tcp/port_place.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "common/cm/tcp/gid.h"
#include "common/verbs/context.h"
#include "common/verbs/gid_table.h"

namespace rdmablk::cm::tcp {
namespace {

/// The longest payload of a packet that the settings allow.
ibv_mtu mtu_limit(const Settings& settings) noexcept {
  if (!settings.path_mtu) return IBV_MTU_4096;
  return static_cast<ibv_mtu>(std::countr_zero(unsigned{*settings.path_mtu}) - 7);
}

class Search {
 public:
  explicit Search(const Settings& settings) : settings_(settings) {}

  void look_at(ibv_context* device) {
    const std::string name = verbs::device_name(device);
    if (!settings_.device.empty() && name != settings_.device) return;
    has_device_ = true;
    if (verbs::is_iwarp(device)) {
      return object(
          fmt::format("{} is an iWARP device, which only rdma_cm connects (--cm rdmacm)", name));
    }
    ibv_device_attr attributes{};
    if (ibv_query_device(device, &attributes) != 0) {
      return object(fmt::format("{} does not answer", name));
    }
    const int first = settings_.port.value_or(1);
    const int last = settings_.port.value_or(attributes.phys_port_cnt);
    if (last > attributes.phys_port_cnt) {
      return object(fmt::format("{} has no port {}", name, last));
    }
    gids_ = verbs::gid_table(device);
    for (int port = first; port <= last; ++port) {
      look_at(device, static_cast<std::uint8_t>(port), fmt::format("port {} of {}", port, name));
    }
  }

  PortPlaces result() && {
    if (!has_device_) {
      object(settings_.device.empty()
                 ? "this host has no RDMA device"
                 : fmt::format("this host has no RDMA device '{}'", settings_.device));
    }
    return std::move(result_);
  }

 private:
  void object(const std::string& what) {
    result_.others += result_.others.empty() ? "" : "; ";
    result_.others += what;
  }

  /// @param name of the port, for people.
  void look_at(ibv_context* device, std::uint8_t number, const std::string& name) {
    ibv_port_attr port{};
    if (ibv_query_port(device, number, &port) != 0) return object(name + " does not answer");
    if (port.state != IBV_PORT_ACTIVE) {
      result_.may_come = true;
      return object(name + " is down");
    }
    if (!has_partition(device, number)) {
      return object(fmt::format("{} has no P_Key {} in its table", name, *settings_.pkey_index));
    }
    PortPlace place;
    place.device = device;
    place.port = number;
    place.lid = port.lid;
    place.mtu = std::min(port.active_mtu, mtu_limit(settings_));
    place.link_layer = port.link_layer == IBV_LINK_LAYER_ETHERNET ? IBV_LINK_LAYER_ETHERNET
                                                                  : IBV_LINK_LAYER_INFINIBAND;
    const std::size_t before = result_.places.size();
    add_gids(place);
    if (result_.places.size() > before) return;
    result_.may_come = result_.may_come || !settings_.gid_index;
    object(settings_.gid_index ? fmt::format("{} has no address {} in its table of GIDs", name,
                                             *settings_.gid_index)
                               : name + " has no address");
  }

  bool has_partition(ibv_context* device, std::uint8_t port) const {
    __be16 key = 0;
    return !settings_.pkey_index || ibv_query_pkey(device, port, *settings_.pkey_index, &key) == 0;
  }

  void add_gids(PortPlace place) {
    for (const ibv_gid_entry& entry : gids_) {
      // A packet's header names it with 8 bits.
      const bool is_wanted = settings_.gid_index ? entry.gid_index == *settings_.gid_index
                                                 : entry.gid_index <= UINT8_MAX;
      if (entry.port_num != place.port || !is_wanted) continue;
      place.gid_index = static_cast<std::uint8_t>(entry.gid_index);
      place.gid = entry.gid;
      place.gid_type = static_cast<std::uint8_t>(entry.gid_type);
      result_.places.push_back(place);
    }
  }

  const Settings& settings_;
  PortPlaces result_;
  bool has_device_ = false;
  std::vector<ibv_gid_entry> gids_;  ///< of the device that is looked at
};

}  // namespace

Endpoint PortPlace::endpoint() const noexcept {
  Endpoint endpoint;
  endpoint.lid = lid;
  endpoint.link_layer = link_layer;
  endpoint.gid_type = gid_type;
  endpoint.mtu = static_cast<std::uint8_t>(mtu);
  endpoint.gid = bytes_of(gid);
  return endpoint;
}

PortPlaces find_places(std::span<ibv_context* const> devices, const Settings& settings) {
  Search search(settings);
  for (ibv_context* const device : devices) search.look_at(device);
  return std::move(search).result();
}

ibv_context* device_with(std::span<ibv_context* const> devices, const SocketAddress& address) {
  const auto wanted = gid_of(address);
  if (!wanted || address.is_wildcard()) return nullptr;
  const auto is_it = [&](const ibv_gid_entry& entry) { return bytes_of(entry.gid) == *wanted; };
  const auto found = std::ranges::find_if(devices, [&](ibv_context* device) {
    return std::ranges::any_of(verbs::gid_table(device), is_it);
  });
  return found == devices.end() ? nullptr : *found;
}

}  // namespace rdmablk::cm::tcp
