#include "common/log_limiter.h"

#include <gtest/gtest.h>

namespace rdmablk {
namespace {

TEST(LogLimiterTest, LogsAFewInAWindowAndCountsTheOthers) {
  LogLimiter limiter;
  auto now = LogLimiter::Clock::now();
  for (unsigned i = 0; i < LogLimiter::kLines; ++i) {
    EXPECT_EQ(limiter.note("refused", now), "refused") << i;
  }
  now += LogLimiter::kWindow / 2;
  EXPECT_FALSE(limiter.note("refused", now));
  EXPECT_FALSE(limiter.note("refused", now));
  now += LogLimiter::kWindow / 2;
  EXPECT_EQ(limiter.note("refused", now), "refused (2 more left out before)");
  EXPECT_EQ(limiter.note("refused", now), "refused");
}

}  // namespace
}  // namespace rdmablk
