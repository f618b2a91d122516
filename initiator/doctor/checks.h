#pragma once

#include "initiator/doctor/finding.h"
#include "initiator/doctor/host.h"

/// What is looked at on this host. Each check adds its findings, and never fails itself.
namespace rdmablk::doctor {

/// Devices, their ports, GIDs and MTUs.
void check_devices(const Host& host, Findings& findings);

/// Modules of the kernel, device nodes, the control group's limits, io_uring.
void check_kernel(const Host& host, Findings& findings);

/// The limit of locked memory, and huge pages.
void check_memory(const Host& host, Findings& findings);

/// What a mount needs.
void check_fuse(const Host& host, Findings& findings);

/// The service of a machine that lends.
void check_service(const Host& host, Findings& findings);

/// All of these.
Findings check_host(const Host& host);

}  // namespace rdmablk::doctor
