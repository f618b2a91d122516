#include "common/cm/managers.h"

#include <utility>

namespace rdmablk::cm {
namespace {

/// rdma_cm wants the devices that it has opened; to others they are as good as any.
std::shared_ptr<Devices> open_devices(const std::set<Method>& methods) {
  return methods.contains(Method::rdmacm) ? open_rdmacm_devices() : open_verbs_devices();
}

}  // namespace

Managers make_managers(const std::set<Method>& methods, asio::io_context& io,
                       const Settings& settings) {
  const auto devices = open_devices(methods);
  Managers managers;
  for (const Method method : methods) {
    managers.emplace(method, method == Method::rdmacm ? make_rdmacm(io, devices, settings)
                                                      : make_tcp(io, devices, settings));
  }
  return managers;
}

std::unique_ptr<ConnectionManager> make_manager(Method method, asio::io_context& io,
                                                const Settings& settings) {
  return std::move(make_managers({method}, io, settings).at(method));
}

}  // namespace rdmablk::cm
