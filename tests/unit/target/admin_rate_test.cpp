#include "target/admin_rate.h"

#include <gtest/gtest.h>

namespace rdmablk::target {
namespace {

using std::chrono::milliseconds;

TEST(AdminRateTest, TakesAsManyAtOnceAsInASecond) {
  const auto start = AdminRate::Clock::now();
  AdminRate rate(10, start);
  int taken = 0;
  for (; rate.has_room(start); ++taken) rate.take();
  EXPECT_EQ(taken, 10);
  EXPECT_EQ(rate.wait(), milliseconds(100));
  EXPECT_FALSE(rate.has_room(start + milliseconds(99)));
  EXPECT_TRUE(rate.has_room(start + milliseconds(101)));
}

TEST(AdminRateTest, KeepsNoMoreThanASecondsWorth) {
  const auto start = AdminRate::Clock::now();
  AdminRate rate(3, start);
  const auto later = start + std::chrono::hours(1);
  int taken = 0;
  for (; rate.has_room(later); ++taken) rate.take();
  EXPECT_EQ(taken, 3);
}

TEST(AdminRateTest, CountsWhatCostsMore) {
  const auto start = AdminRate::Clock::now();
  AdminRate rate(100, start);
  for (int i = 0; i < 5; ++i) rate.take(20);
  EXPECT_FALSE(rate.has_room(start));
  rate.take(500);
  EXPECT_FALSE(rate.has_room(start + milliseconds(1000)));
  EXPECT_TRUE(rate.has_room(start + milliseconds(1020)));
}

TEST(AdminRateTest, ZeroIsNoLimit) {
  AdminRate rate(0);
  for (int i = 0; i < 10000; ++i) {
    ASSERT_TRUE(rate.has_room());
    rate.take();
  }
}

}  // namespace
}  // namespace rdmablk::target
