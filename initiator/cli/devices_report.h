#pragma once

#include <span>
#include <string>

#include "initiator/cli/json.h"
#include "initiator/cli/rdma_device.h"

namespace rdmablk::cli {

/// The devices for people: a few lines for each.
/// @param verbose all that is known, not only what is needed to connect.
std::string devices_text(std::span<const RdmaDevice> devices, bool verbose = false);

/// The devices as `rdmablk devices --json` prints them.
Json devices_json(std::span<const RdmaDevice> devices);

}  // namespace rdmablk::cli
