#include "initiator/backoff.h"

#include <gtest/gtest.h>

namespace rdmablk::initiator {
namespace {

using std::chrono::milliseconds;
using Time = Backoff::Clock::time_point;

constexpr milliseconds kLongest{400};
constexpr Time kStart{std::chrono::hours(1)};

/// What chance may leave of a pause.
std::chrono::nanoseconds shortest(std::chrono::nanoseconds pause) {
  return pause - pause / 4;
}

/// What an attempt that fails at `now` has to wait, and whether that is up to a quarter less than a
/// pause.
void expect_pause(Backoff& backoff, Time& now, milliseconds pause) {
  backoff.failed(now, kLongest);
  EXPECT_LE(backoff.next() - now, pause);
  EXPECT_GE(backoff.next() - now, shortest(pause));
  now = backoff.next();
}

TEST(BackoffTest, TriesAtOnceAndThenEverLater) {
  for (std::uint32_t seed = 1; seed < 100; ++seed) {
    Backoff backoff(seed);
    Time now = kStart;
    backoff.lost(now, kLongest);
    EXPECT_EQ(backoff.next(), now);
    expect_pause(backoff, now, Backoff::kFirst);
    expect_pause(backoff, now, milliseconds(100));
    expect_pause(backoff, now, milliseconds(200));
    expect_pause(backoff, now, milliseconds(400));
    expect_pause(backoff, now, milliseconds(400));
  }
}

TEST(BackoffTest, BeginsAnewOnceAConnectionHasHeld) {
  Backoff backoff(1);
  Time now = kStart;
  expect_pause(backoff, now, Backoff::kFirst);
  expect_pause(backoff, now, milliseconds(100));
  backoff.succeeded(now);
  now += milliseconds(101);
  backoff.lost(now, kLongest);
  EXPECT_EQ(backoff.next(), now);
  expect_pause(backoff, now, Backoff::kFirst);
}

TEST(BackoffTest, DoesNotSpinWhenConnectionsDieAtOnce) {
  Backoff backoff(1);
  Time now = kStart;
  milliseconds pause{};
  for (int i = 0; i < 8; ++i) {
    backoff.lost(now, kLongest);
    EXPECT_GE(backoff.next() - now, shortest(pause));
    pause = std::min(std::max(2 * pause, Backoff::kFirst), kLongest);
    now = backoff.next();
    backoff.succeeded(now);
  }
  EXPECT_EQ(pause, kLongest);
}

TEST(BackoffTest, AShorterLimitShortensThePauseThatIsUnderWay) {
  Backoff backoff(1);
  Time now = kStart;
  for (int i = 0; i < 5; ++i) backoff.failed(now, kLongest);
  backoff.limit(now, milliseconds(10));
  EXPECT_LE(backoff.next(), now + milliseconds(10));
  backoff.limit(now, kLongest);
  EXPECT_LE(backoff.next(), now + milliseconds(10));
}

TEST(BackoffTest, TakesALongestPauseOfNothing) {
  Backoff backoff(1);
  backoff.failed(kStart, milliseconds(0));
  EXPECT_EQ(backoff.next(), kStart);
}

}  // namespace
}  // namespace rdmablk::initiator
