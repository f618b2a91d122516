#pragma once

#include <string>
#include <vector>

#include "target/findings.h"
#include "target/options.h"

namespace rdmablk::target {

/// Looks whether this process could start with the options, step by step as a start goes: RDMA
/// devices and addresses, the keys, the files of exports in the mode that they are served in, the
/// places of saved memory and of state, memory, sockets. Makes, changes and locks nothing.
std::vector<Finding> look_at_places(const Options& options);

/// What --check-config does: reads the options, looks at the places that they name, and prints what
/// it has found, problems to standard error.
/// @return the exit status: kExitDone, kExitFailed when a place is not fit, kExitUsage when the
/// options make no sense.
int check_configuration(const std::string& program, int argc, const char* const* argv,
                        const Invocation& invocation);

}  // namespace rdmablk::target
