#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "target/export_spec.h"

namespace rdmablk::target {

/// The memory that serving the exports pins, in bytes: every export counts once for each of its
/// registrations (read-only, and read-write unless it is read-only altogether) with each device,
/// and something comes on top for the messages of sessions.
std::uint64_t pinned_bytes(const std::vector<ExportSpec>& specs, std::size_t devices);

/// Checks that the limit of locked memory allows it. Throws MemlockError, which says how much is
/// needed in all.
/// @param limit bytes, as verbs::memlock_limit() gives.
void check_memlock(const std::vector<ExportSpec>& specs, std::size_t devices, std::uint64_t limit);

}  // namespace rdmablk::target
