#pragma once

#include <span>
#include <string>

#include "initiator/cli/json.h"
#include "initiator/cli/rdma_device.h"

namespace rdmablk::cli {

/// The devices for people: a few lines for each.
std::string devices_text(std::span<const RdmaDevice> devices);

/// The devices as `rdmablk devices --json` prints them.
Json devices_json(std::span<const RdmaDevice> devices);

}  // namespace rdmablk::cli
