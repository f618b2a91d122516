#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "common/uri.h"
#include "initiator/connection_options.h"
#include "initiator/credentials.h"
#include "initiator/doctor/finding.h"
#include "initiator/link.h"

namespace rdmablk::doctor {

/// Which target, and how.
struct TargetOptions {
  HostPort target;
  std::vector<HostPort> paths{};            ///< more ways to it
  std::chrono::milliseconds timeout{5000};  ///< of each step
  std::optional<initiator::Credentials> credentials{};
  initiator::ConnectionOptions connection{};
};

/// Goes the way to a target step by step: its name, the device that leads there, the connection,
/// the protocol, other paths, who may have what, a READ. What comes after a failure is skipped.
/// Does not throw Error.
void check_target(const TargetOptions& options, Findings& findings);

/// What it means that a target could not be reached, and what to do.
/// @param why as it was reported. @param peer "address:port". @param method by which it was tried.
Finding unreachable(initiator::Obstacle obstacle, const std::string& why, const SocketAddress& peer,
                    cm::Method method = cm::Method::rdmacm);

}  // namespace rdmablk::doctor
