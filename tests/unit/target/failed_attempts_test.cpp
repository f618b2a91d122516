#include "target/failed_attempts.h"

#include <gtest/gtest.h>

namespace rdmablk::target {
namespace {

TEST(FailedAttemptsTest, LogsAFewInAWindowAndCountsTheOthers) {
  FailedAttempts attempts;
  auto now = FailedAttempts::Clock::now();
  for (unsigned i = 0; i < FailedAttempts::kLines; ++i) {
    EXPECT_EQ(attempts.note("refused", now), "refused") << i;
  }
  now += FailedAttempts::kWindow / 2;
  EXPECT_FALSE(attempts.note("refused", now));
  EXPECT_FALSE(attempts.note("refused", now));
  now += FailedAttempts::kWindow / 2;
  EXPECT_EQ(attempts.note("refused", now), "refused (2 more were left out before)");
  EXPECT_EQ(attempts.note("refused", now), "refused");
}

}  // namespace
}  // namespace rdmablk::target
