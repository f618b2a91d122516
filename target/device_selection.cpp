#include "target/device_selection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

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

ibv_context* find_device(const cm::ConnectionManager& manager, const std::string& name) {
  std::string names;
  for (ibv_context* const device : manager.devices()) {
    if (verbs::device_name(device) == name) return device;
    names += (names.empty() ? "" : ", ") + verbs::device_name(device);
  }
  throw Error(fmt::format("there is no RDMA device '{}'; those there are: {}", name, names));
}

}  // namespace

std::unique_ptr<cm::Listener> listen_on_first(cm::ConnectionManager& manager,
                                              const std::vector<SocketAddress>& addresses,
                                              cm::RequestHandler& handler) {
  for (std::size_t i = 0;; ++i) {
    try {
      return manager.listen(addresses.at(i), handler);
    } catch (const SystemError& error) {
      // Only an address that is not to be had is a reason to try another.
      if (error.error() == EADDRINUSE || i + 1 == addresses.size()) throw;
    } catch (const Error&) {
      if (i + 1 == addresses.size()) throw;
    }
  }
}

std::vector<ibv_context*> select_devices(cm::ConnectionManager& manager,
                                         const std::vector<SocketAddress>& addresses,
                                         const std::optional<std::string>& wanted) {
  ibv_context* const named = wanted ? find_device(manager, *wanted) : nullptr;
  NotReady not_ready;
  const auto listener = listen_on_first(manager, addresses, not_ready);
  ibv_context* const bound = listener->device();
  if (named != nullptr && bound != nullptr && named != bound) {
    throw Error(fmt::format("address {} belongs to RDMA device {}, not to {}",
                            listener->address().text(), verbs::device_name(bound), *wanted));
  }
  if (named != nullptr) return {named};
  if (bound != nullptr) return {bound};
  return {manager.devices().begin(), manager.devices().end()};
}

}  // namespace rdmablk::target
