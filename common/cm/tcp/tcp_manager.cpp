#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "common/cm/managers.h"
#include "common/cm/tcp/tcp_connection.h"
#include "common/cm/tcp/tcp_listener.h"
#include "common/known_error.h"
#include "common/verbs/context.h"

namespace rdmablk::cm {
namespace {

class TcpManager final : public ConnectionManager {
 public:
  TcpManager(asio::io_context& io, std::shared_ptr<Devices> devices, Settings settings)
      : io_(io), devices_(std::move(devices)), settings_(std::move(settings)) {}

  std::span<ibv_context* const> devices() const noexcept override { return devices_->get(); }
  std::shared_ptr<Devices> shared_devices() const noexcept override { return devices_; }

  std::unique_ptr<Listener> listen(const SocketAddress& address, RequestHandler& handler) override {
    return std::make_unique<tcp::TcpListener>(io_, *devices_, settings_, guard_, address, handler);
  }

  std::unique_ptr<Connection> open(const SocketAddress& peer, EventHandler& handler) override {
    return std::make_unique<tcp::TcpConnection>(io_, *devices_, settings_, peer, handler);
  }

 private:
  asio::io_context& io_;
  std::shared_ptr<Devices> devices_;
  Settings settings_;
  tcp::ReachGuard guard_;
};

/// Throws KnownError when only rdma_cm connects the devices that there are.
void require_device(const Devices& devices) {
  if (!std::ranges::all_of(devices.get(), verbs::is_iwarp)) return;
  throw KnownError(ENODEV,
                   "the RDMA devices of this host are iWARP's, which only rdma_cm connects: use "
                   "--cm rdmacm");
}

}  // namespace

std::unique_ptr<ConnectionManager> make_tcp(asio::io_context& io, std::shared_ptr<Devices> devices,
                                            const Settings& settings) {
  require_device(*devices);
  return std::make_unique<TcpManager>(io, std::move(devices), settings);
}

}  // namespace rdmablk::cm
