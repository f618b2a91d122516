#pragma once

#include <memory>

#include "common/cm/connection.h"
#include "common/cm/devices.h"

namespace rdmablk::cm {

/// See make_manager().
std::unique_ptr<ConnectionManager> make_rdmacm(asio::io_context& io,
                                               std::shared_ptr<Devices> devices,
                                               const Settings& settings);
std::unique_ptr<ConnectionManager> make_tcp(asio::io_context& io, std::shared_ptr<Devices> devices,
                                            const Settings& settings);

}  // namespace rdmablk::cm
