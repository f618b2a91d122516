#pragma once

namespace rdmablk {

/// Where a target that root or a service manager has started is to be asked and told things, unless
/// it was given another place.
inline constexpr const char* kAdminSocketPath = "/run/rdmablk/target.sock";

}  // namespace rdmablk
