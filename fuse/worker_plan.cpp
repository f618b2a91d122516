#include "fuse/worker_plan.h"

#include <fmt/format.h>
#include <sched.h>

#include <algorithm>

#include "common/counted.h"
#include "common/error.h"
#include "common/protocol/header.h"
#include "common/units.h"
#include "common/verbs/memory_region.h"
#include "fuse/slot.h"

namespace rdmablk::fuse {

namespace {

/// What a session locks besides: the zeroes it writes, its own messages, the queues themselves.
constexpr std::uint64_t kSessionMemory = std::uint64_t{2} << 20U;

/// A slot, and its command to the target and the reply, which exports with a file have.
constexpr std::uint64_t kMemoryPerSlot = kSlotSize + 2 * protocol::kMaxMessage;

constexpr unsigned kMostDefaultWorkers = 4;

/// As long as it may take to wake a thread of the other side on a core that sleeps, twice, in a
/// virtual machine. On one core to spin would only be in the way.
constexpr std::chrono::microseconds kSpin{50};

/// The cores that this process may use.
unsigned cores() {
  cpu_set_t cpus;
  if (::sched_getaffinity(0, sizeof cpus, &cpus) != 0) return 1;
  return static_cast<unsigned>(CPU_COUNT(&cpus));
}

}  // namespace

unsigned default_workers() {
  return std::clamp(cores(), 1U, kMostDefaultWorkers);
}

std::chrono::microseconds default_spin() {
  return cores() == 1 ? std::chrono::microseconds(0) : kSpin;
}

std::uint64_t slot_memory(const WorkerPlan& plan) {
  return plan.slots() * kMemoryPerSlot;
}

void check_memory(const WorkerPlan& plan, const MachineMemory& memory) {
  if (slot_memory(plan) < memory.available) return;
  throw Error(
      fmt::format("the buffers of {} and queue depth {} take {} of memory, and only {} of this "
                  "machine's {} are free; lower --workers or --queue-depth",
                  counted(plan.workers, "worker"), plan.depth, format_size(slot_memory(plan)),
                  in_round_numbers(memory.available), in_round_numbers(memory.total)));
}

WorkerPlan fit_to_memlock(const WorkerPlan& wanted, std::uint64_t limit) {
  const std::uint64_t room = limit > kSessionMemory ? (limit - kSessionMemory) / kMemoryPerSlot : 0;
  if (room >= wanted.slots()) return wanted;
  if (room < kMinSlots) {
    throw verbs::MemlockError("register buffers for the mount",
                              kSessionMemory + kMinSlots * kMemoryPerSlot);
  }
  WorkerPlan plan;
  plan.workers = static_cast<unsigned>(std::min<std::uint64_t>(wanted.workers, room / kMinSlots));
  plan.depth = static_cast<unsigned>(std::min<std::uint64_t>(wanted.depth, room / plan.workers));
  return plan;
}

}  // namespace rdmablk::fuse
