#include "fuse/watch.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <thread>
#include <vector>

namespace rdmablk::fuse {
namespace {

bool is_called(const Watch& watch, unsigned worker) {
  pollfd source{watch.fd(worker), POLLIN, 0};
  return ::poll(&source, 1, 0) == 1;
}

TEST(Watch, IsHeldByOne) {
  Watch watch(2);
  EXPECT_TRUE(watch.take(1));
  EXPECT_TRUE(watch.take(1));
  EXPECT_FALSE(watch.take(0));
  watch.leave(0);
  EXPECT_FALSE(watch.take(0));
  watch.leave(1);
  EXPECT_TRUE(watch.take(0));
}

TEST(Watch, NobodyRestsWithoutIt) {
  Watch watch(2);
  EXPECT_FALSE(watch.rest(0));
  ASSERT_TRUE(watch.take(1));
  EXPECT_TRUE(watch.rest(0));
}

TEST(Watch, LeavingCallsOneOfThoseThatRest) {
  Watch watch(3);
  ASSERT_TRUE(watch.take(0));
  ASSERT_TRUE(watch.rest(1));
  ASSERT_TRUE(watch.rest(2));
  EXPECT_FALSE(is_called(watch, 1) || is_called(watch, 2));
  watch.leave(0);
  EXPECT_NE(is_called(watch, 1), is_called(watch, 2));
  watch.call();
  EXPECT_TRUE(is_called(watch, 1) && is_called(watch, 2));
}

TEST(Watch, ACallEndsWhenItsWorkerRises) {
  Watch watch(2);
  ASSERT_TRUE(watch.take(0));
  ASSERT_TRUE(watch.rest(1));
  watch.call();
  watch.call();
  ASSERT_TRUE(is_called(watch, 1));
  watch.rise(1);
  EXPECT_FALSE(is_called(watch, 1));
  ASSERT_TRUE(watch.rest(1));
  watch.rise(1);
  watch.call();
  EXPECT_FALSE(is_called(watch, 1));
}

/// Workers hand a job around that waits for no one in particular: whoever is on watch takes it and
/// leaves. If all of them rested at once, this would hang.
TEST(Watch, NeverLeavesEverybodyAtRest) {
  constexpr unsigned kWorkers = 4;
  constexpr int kJobs = 20000;
  Watch watch(kWorkers);
  std::atomic<int> jobs{0};
  const auto work = [&](unsigned self) {
    while (jobs.load() < kJobs) {
      if (watch.take(self)) {
        ++jobs;
        watch.leave(self);
        if (jobs.load() >= kJobs) {
          for (unsigned i = 0; i < kWorkers; ++i) watch.call();
        }
      } else if (watch.rest(self)) {
        pollfd source{watch.fd(self), POLLIN, 0};
        EXPECT_EQ(::poll(&source, 1, 30000), 1) << "nobody called worker " << self;
        watch.rise(self);
      }
    }
    watch.leave(self);
    watch.call();
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kWorkers; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_GE(jobs.load(), kJobs);
}

}  // namespace
}  // namespace rdmablk::fuse
