#include "fuse/spin.h"

#include <gtest/gtest.h>

namespace rdmablk::fuse {
namespace {

using namespace std::chrono_literals;

/// Work that comes again and again, each time so long after the last.
void work(Spin& spin, Spin::Clock::time_point& now, Spin::Clock::duration gap, int times) {
  for (int i = 0; i < times; ++i) {
    spin.found(now);
    spin.goes_on(now);
    now += gap;
  }
}

TEST(Spin, LooksForAsLongAsItMayWhenWorkComesAtOnce) {
  Spin spin(10us);
  Spin::Clock::time_point now{1h};
  work(spin, now, 5us, 10);
  EXPECT_EQ(spin.time(), 10us);
  EXPECT_TRUE(spin.goes_on(now));
  EXPECT_FALSE(spin.goes_on(now + 10us));
}

TEST(Spin, LooksNoMoreWhenThatDoesNotPay) {
  Spin spin(10us);
  Spin::Clock::time_point now{1h};
  work(spin, now, 1ms, 10);
  EXPECT_EQ(spin.time(), 0us);
  spin.found(now);
  EXPECT_FALSE(spin.goes_on(now));
}

TEST(Spin, BeginsAgainWhenWorkComesSooner) {
  Spin spin(10us);
  Spin::Clock::time_point now{1h};
  work(spin, now, 1ms, 10);
  work(spin, now, 15us, 10);  // a sleep and a wake-up are in it
  EXPECT_EQ(spin.time(), 10us);
}

TEST(Spin, OneLongWaitAmongShortOnesDoesNotStopIt) {
  Spin spin(10us);
  Spin::Clock::time_point now{1h};
  work(spin, now, 5us, 10);
  work(spin, now, 1ms, 1);
  work(spin, now, 5us, 1);
  EXPECT_GT(spin.time(), 0us);
}

TEST(Spin, NeverLooksWhenItMayNot) {
  Spin spin(0us);
  Spin::Clock::time_point now{1h};
  work(spin, now, 1us, 10);
  EXPECT_FALSE(spin.goes_on(now));
}

}  // namespace
}  // namespace rdmablk::fuse
