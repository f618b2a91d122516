#pragma once

#include <cstdint>

namespace rdmablk::copy {

/// How many lanes there are, and what each works with.
struct LanePlan {
  unsigned lanes = 1;
  unsigned blocks = 1;           ///< of each lane
  std::uint64_t block_size = 0;  ///< bytes

  bool operator==(const LanePlan&) const = default;
};

/// The memory that a plan locks, in bytes: its blocks, and the messages about them.
/// @param ends those that are at a target: each locks all of it anew.
std::uint64_t locked_memory(const LanePlan& plan, unsigned ends);

/// Shrinks a plan to what may be locked: first to fewer blocks, then to fewer lanes, then to
/// smaller blocks.
/// @param least blocks that a lane works with at least. @param limit of locked memory
/// (verbs::memlock_limit()), in bytes. Throws verbs::MemlockError when there is no room for any.
LanePlan fit_to_memlock(const LanePlan& wanted, unsigned least, unsigned ends, std::uint64_t limit);

}  // namespace rdmablk::copy
