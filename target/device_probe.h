#pragma once

#include "target/findings.h"
#include "target/options.h"

namespace rdmablk::target {

/// Looks whether a target could listen for initiators: at addresses that an RDMA device has, at
/// ports that nobody has. Nobody can connect meanwhile but to be turned away.
/// @param findings a host without any RDMA device is a note: it may be prepared before it gets one.
void probe_devices(const Options& options, Findings& findings);

}  // namespace rdmablk::target
