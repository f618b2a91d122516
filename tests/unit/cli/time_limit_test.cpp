#include "initiator/cli/time_limit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "common/error.h"

namespace rdmablk::cli {
namespace {

TEST(TimeLimit, LetsWhatIsInTimeBe) {
  const TimeLimit limit(std::chrono::hours(1), "wait");
}

TEST(TimeLimitDeathTest, EndsWhatIsNot) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(
      {
        const TimeLimit limit(std::chrono::milliseconds(10), "wait for ever");
        while (true) ::pause();
      },
      testing::ExitedWithCode(kExitFailed),
      "rdmablk: cannot wait for ever: it took longer than "
      "0.01 s");
}

}  // namespace
}  // namespace rdmablk::cli
