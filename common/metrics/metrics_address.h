#pragma once

#include <string>

#include "common/uri.h"

namespace rdmablk::metrics {

/// Reads where metrics can be read: PORT, which means loopback, or ADDRESS:PORT. Port 0 is any that
/// is free.
/// @param option its name, for the error. Throws UsageError.
HostPort parse_metrics_address(const std::string& option, const std::string& value);

}  // namespace rdmablk::metrics
