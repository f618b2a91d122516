#pragma once

#include <string>

#include "common/uri.h"

namespace rdmablk::metrics {

/// Reads where metrics can be read: PORT, which means loopback, or ADDRESS:PORT. Port 0 is any that
/// is free.
/// @param option its name, for the error. Throws UsageError.
HostPort parse_metrics_address(const std::string& option, const std::string& value);

/// Where a server of metrics listens: the IPv4 address of a host. Throws UsageError when it has
/// none, Error when it is not known.
HostPort ipv4_of(const HostPort& address);

/// Looks whether this process could listen at an IPv4 address just now; nobody can connect
/// meanwhile.
/// @return 0, or an errno value: EADDRINUSE.
int try_address(const HostPort& address);

/// That it cannot, for people: what was to be done, why not, and what to do.
/// @param error an errno value.
std::string describe_refusal(const HostPort& address, int error);

}  // namespace rdmablk::metrics
