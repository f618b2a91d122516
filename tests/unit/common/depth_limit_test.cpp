#include "common/verbs/depth_limit.h"

#include <gtest/gtest.h>

namespace rdmablk::verbs {
namespace {

ibv_device_attr device(int work_requests, int completions) {
  ibv_device_attr limits{};
  limits.max_qp_wr = work_requests;
  limits.max_cqe = completions;
  return limits;
}

TEST(DepthLimit, IsWhatTheQueuePairHolds) {
  EXPECT_EQ(depth_limit(device(64, 1000), {.sends = 1}), 64U);
  EXPECT_EQ(depth_limit(device(64, 1000), {.sends = 2, .receives = 1}), 32U);
  EXPECT_EQ(depth_limit(device(64, 1000), {.sends = 1, .receives = 2}), 32U);
  EXPECT_EQ(depth_limit(device(65, 1000), {.sends = 2}), 32U);
}

TEST(DepthLimit, IsWhatTheCompletionQueueHolds) {
  EXPECT_EQ(depth_limit(device(64, 30), {.sends = 1}), 30U);
  EXPECT_EQ(depth_limit(device(64, 30), {.sends = 2, .receives = 1}), 10U);
}

TEST(DepthLimit, IsNeverNothing) {
  EXPECT_EQ(depth_limit(device(0, 0), {.sends = 2, .receives = 1}), 1U);
  EXPECT_EQ(depth_limit(device(-1, -1), {.sends = 2, .receives = 1}), 1U);
  EXPECT_EQ(depth_limit(device(1, 1000), {.sends = 2}), 1U);
}

}  // namespace
}  // namespace rdmablk::verbs
