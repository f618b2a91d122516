#include "initiator/copy/lane_plan.h"

#include <gtest/gtest.h>

#include "common/verbs/memory_region.h"

namespace rdmablk::copy {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20U;
constexpr LanePlan kUsual{2, 8, kMiB};

TEST(LanePlan, StaysWhenThereIsRoom) {
  EXPECT_EQ(fit_to_memlock(kUsual, 1, 2, UINT64_MAX), kUsual);
  EXPECT_EQ(fit_to_memlock(kUsual, 1, 1, locked_memory(kUsual, 1)), kUsual);
  EXPECT_EQ(fit_to_memlock(kUsual, 1, 0, 0), kUsual) << "files and pipes lock nothing";
}

TEST(LanePlan, ShrinksToWhatMayBeLocked) {
  for (const unsigned ends : {1U, 2U}) {
    for (std::uint64_t limit = locked_memory(kUsual, ends); limit > ends * 3 * kMiB;
         limit -= kMiB) {
      const LanePlan plan = fit_to_memlock(kUsual, 1, ends, limit);
      EXPECT_LE(locked_memory(plan, ends), limit);
      EXPECT_GE(plan.lanes, 1U);
      EXPECT_GE(plan.blocks, 1U);
    }
  }
}

TEST(LanePlan, GivesUpBlocksFirstThenLanesThenTheirSize) {
  EXPECT_EQ(fit_to_memlock(kUsual, 1, 1, 8 * kMiB), (LanePlan{2, 2, kMiB}));
  EXPECT_EQ(fit_to_memlock(kUsual, 2, 1, 5 * kMiB), (LanePlan{1, 2, kMiB}));
  EXPECT_EQ(fit_to_memlock(kUsual, 2, 1, 3 * kMiB), (LanePlan{1, 2, kMiB / 4}));
}

TEST(LanePlan, NeedsRoomForTheLeast) {
  EXPECT_THROW(fit_to_memlock(kUsual, 1, 1, kMiB), verbs::MemlockError);
  EXPECT_THROW(fit_to_memlock({1, 1, 512}, 2, 1, 0), verbs::MemlockError);
}

}  // namespace
}  // namespace rdmablk::copy
