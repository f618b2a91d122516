#include "target/device_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <exception>

#include "common/cm/device_addresses.h"
#include "common/error.h"
#include "common/verbs/context.h"

namespace rdmablk::target {
namespace {

/// Whoever comes before the exports are ready is turned away.
class NotReady final : public cm::RequestHandler {
 public:
  void on_request(std::unique_ptr<cm::Connection> /*connection*/,
                  std::span<const std::byte> /*private_data*/) override {}
};

/// The devices that listeners get requests from.
std::vector<ibv_context*> devices_of(const cm::ConnectionManager& manager,
                                     const Listeners& listeners) {
  std::vector<ibv_context*> devices;
  for (const auto& listener : listeners) {
    ibv_context* const bound = listener->device();
    if (bound == nullptr) return {manager.devices().begin(), manager.devices().end()};
    if (std::find(devices.begin(), devices.end(), bound) == devices.end()) devices.push_back(bound);
  }
  return devices;
}

void listen_on(cm::ConnectionManager& manager, const std::vector<SocketAddress>& addresses,
               cm::RequestHandler& handler, Listeners& listeners) {
  const std::size_t before = listeners.size();
  std::exception_ptr failure;
  for (const SocketAddress& address : addresses) {
    try {
      listeners.push_back(manager.listen(address, handler));
      if (address.port() == 0) break;
    } catch (const SystemError& error) {
      if (error.error() == EADDRINUSE) throw;
      failure = std::current_exception();
    } catch (const Error&) {
      failure = std::current_exception();
    }
  }
  if (listeners.size() == before) std::rethrow_exception(failure);
}

}  // namespace

ListenAddresses resolve_all(const std::vector<ListenPlace>& places) {
  ListenAddresses addresses;
  for (const ListenPlace& place : places) add_place(addresses, place);
  return addresses;
}

SocketAddress add_place(ListenAddresses& addresses, const ListenPlace& place) {
  const auto found = resolve(place.where);
  auto group = addresses.end();
  if (!place.is_wanted) group = std::ranges::find(addresses, place.method, &ListenGroup::method);
  if (group == addresses.end()) group = addresses.insert(group, ListenGroup{place.method, {}});
  group->addresses.insert(group->addresses.end(), found.begin(), found.end());
  return found.front();
}

std::set<cm::Method> methods_of(const std::vector<ListenPlace>& places) {
  std::set<cm::Method> methods;
  for (const ListenPlace& place : places) methods.insert(place.method);
  return methods;
}

Listeners listen_on(const cm::Managers& managers, const ListenAddresses& addresses,
                    cm::RequestHandler& handler) {
  Listeners listeners;
  for (const ListenGroup& group : addresses) {
    listen_on(*managers.at(group.method), group.addresses, handler, listeners);
  }
  return listeners;
}

std::vector<ibv_context*> select_devices(const cm::Managers& managers,
                                         const ListenAddresses& addresses,
                                         const std::string& wanted) {
  const cm::ConnectionManager& any = *managers.begin()->second;
  ibv_context* const named = wanted.empty() ? nullptr : cm::find_device(any.devices(), wanted);
  NotReady not_ready;
  const auto listeners = listen_on(managers, addresses, not_ready);
  const auto devices = devices_of(any, listeners);
  if (named == nullptr) return devices;
  if (std::find(devices.begin(), devices.end(), named) == devices.end()) {
    throw Error(fmt::format("address {} belongs to RDMA device {}, not to {}",
                            listeners.front()->address().text(),
                            verbs::device_name(devices.front()), wanted));
  }
  return {named};
}

}  // namespace rdmablk::target
