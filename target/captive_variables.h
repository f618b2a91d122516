#pragma once

#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/socket_address.h"
#include "target/export_spec.h"

namespace rdmablk::target {

/// What the command of --run finds in its environment: `uri` of the first export, `exports`, the
/// names of all with a space between two, `host` and `port`; those of an export only when there is
/// one.
/// @param addresses where the target listens; not empty.
std::vector<std::pair<std::string, std::string>> captive_variables(
    std::span<const SocketAddress> addresses, std::span<const ExportSpec> exports);

}  // namespace rdmablk::target
