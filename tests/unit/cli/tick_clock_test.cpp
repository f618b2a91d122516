#include "initiator/cli/tick_clock.h"

#include <gtest/gtest.h>

#include <chrono>
#include <thread>

namespace rdmablk::cli {
namespace {

using std::chrono::milliseconds;
using std::chrono::nanoseconds;
using std::chrono::steady_clock;

TEST(TickClock, GoesAsTheSteadyClockDoes) {
  const TickClock clock;
  const auto before = steady_clock::now();
  const auto begin = clock.now();
  const auto begun = steady_clock::now();
  std::this_thread::sleep_for(milliseconds(50));
  const auto ending = steady_clock::now();
  const auto end = clock.now();
  const auto after = steady_clock::now();
  // However long a step took, this is between what must and what can have passed; a hundredth for
  // the calibration.
  EXPECT_GE((end - begin) * 1.01, ending - begun);
  EXPECT_LE((end - begin) * 0.99, after - before);
}

TEST(TickClock, NeverGoesBack) {
  const TickClock clock;
  auto last = clock.now();
  for (int i = 0; i < 100000; ++i) {
    const auto now = clock.now();
    ASSERT_GE(now, last);
    last = now;
  }
}

}  // namespace
}  // namespace rdmablk::cli
