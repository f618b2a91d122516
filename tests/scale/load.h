#pragma once

#include <cstdint>

#include "tests/scale/fleet.h"

namespace rdmablk::scale {

/// Reads 4 KiB a time, in turn through the first sessions of a fleet, and verifies what was read.
/// Looks only at queues with something under way, so that its own work is the same however many
/// sessions there are. Throws Error.
/// @param sessions how many take part. @param requests in all. @param in_flight of all of them.
/// @return how long it took.
Duration run_load(Fleet& fleet, std::size_t sessions, std::uint64_t requests, unsigned in_flight);

}  // namespace rdmablk::scale
