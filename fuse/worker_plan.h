#pragma once

#include <chrono>
#include <cstdint>

#include "common/machine_memory.h"

namespace rdmablk::fuse {

/// How many workers there are, and how many requests each works on at once.
struct WorkerPlan {
  unsigned workers = 1;  ///< 1 to kMaxWorkers
  unsigned depth = 32;   ///< slots of each, 1 to kMaxDepth

  std::uint64_t slots() const noexcept { return std::uint64_t{workers} * depth; }
  bool operator==(const WorkerPlan&) const = default;
};

inline constexpr unsigned kMaxWorkers = 64;
inline constexpr unsigned kMaxDepth = 1024;

/// The fewest slots that a mount gets along with.
inline constexpr std::uint64_t kMinSlots = 4;

/// The cores that this process may use, but no more than four: a worker serves tens of thousands of
/// requests a second.
unsigned default_workers();

/// How long a worker that found nothing to do looks again before it sleeps, at most. On one core it
/// does not: it would keep those away that it waits for.
std::chrono::microseconds default_spin();

/// The memory that the slots of a plan need, and the messages about them, in bytes.
std::uint64_t slot_memory(const WorkerPlan& plan);

/// Checks that the slots fit into memory: they are registered, and so taken at once. Throws Error,
/// which says what to do.
void check_memory(const WorkerPlan& plan, const MachineMemory& memory);

/// Shrinks a plan to what may be locked.
/// @param limit of locked memory (verbs::memlock_limit()), in bytes.
/// Throws verbs::MemlockError when there is no room for kMinSlots.
WorkerPlan fit_to_memlock(const WorkerPlan& wanted, std::uint64_t limit);

}  // namespace rdmablk::fuse
