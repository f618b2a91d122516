#include "fuse/worker_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/error.h"
#include "common/protocol/header.h"
#include "common/verbs/memory_region.h"
#include "fuse/slot.h"

namespace rdmablk::fuse {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr WorkerPlan kWanted{4, 32};

TEST(WorkerPlan, StaysWhereNothingLimitsIt) {
  EXPECT_EQ(fit_to_memlock(kWanted, UINT64_MAX), kWanted);
  EXPECT_EQ(fit_to_memlock(kWanted, slot_memory(kWanted) + 2 * kMiB), kWanted);
}

TEST(WorkerPlan, CountsTheCommandsToTheTarget) {
  const std::uint64_t slots_alone = kWanted.slots() * kSlotSize;
  EXPECT_EQ(slot_memory(kWanted), slots_alone + 2 * protocol::kMaxMessage * kWanted.slots());
  EXPECT_NE(fit_to_memlock(kWanted, slots_alone + 2 * kMiB), kWanted);
}

TEST(WorkerPlan, LosesDepthFirst) {
  const WorkerPlan plan = fit_to_memlock(kWanted, 64 * kMiB);
  EXPECT_EQ(plan.workers, 4U);
  EXPECT_EQ(plan.depth, 15U);
}

TEST(WorkerPlan, FitsAlways) {
  for (std::uint64_t limit = 7 * kMiB; limit < 200 * kMiB; limit += kMiB / 4) {
    const WorkerPlan plan = fit_to_memlock(kWanted, limit);
    EXPECT_LE(slot_memory(plan), limit - 2 * kMiB) << limit;
    EXPECT_GE(plan.slots(), kMinSlots) << limit;
    EXPECT_GE(plan.workers, 1U);
    EXPECT_LE(plan.depth, kWanted.depth);
  }
}

TEST(WorkerPlan, LeavesOneWorkerUnderDebiansLimit) {
  EXPECT_EQ(fit_to_memlock(kWanted, 8 * kMiB), (WorkerPlan{1, 5}));
}

TEST(WorkerPlan, KeepsAPlanBelowTheFloorThatWasAskedFor) {
  EXPECT_EQ(fit_to_memlock({1, 2}, 8 * kMiB), (WorkerPlan{1, 2}));
}

TEST(WorkerPlan, GivesUpBelowFourSlots) {
  EXPECT_THROW(fit_to_memlock(kWanted, 6 * kMiB), verbs::MemlockError);
  EXPECT_THROW(fit_to_memlock(kWanted, 0), verbs::MemlockError);
}

TEST(WorkerPlan, IsRefusedWhenItTakesMoreMemoryThanIsFree) {
  const MachineMemory machine{1024 * kMiB, 256 * kMiB, 0};
  EXPECT_NO_THROW(check_memory(kWanted, machine));
  EXPECT_THAT(
      [&] {
        check_memory({8, 32}, machine);
      },
      ThrowsMessage<Error>(AllOf(HasSubstr("8 workers and queue depth 32"),
                                 HasSubstr("only 256 MiB of this machine's 1 GiB"),
                                 HasSubstr("lower --workers or --queue-depth"))));
}

}  // namespace
}  // namespace rdmablk::fuse
