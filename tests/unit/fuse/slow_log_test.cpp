#include "fuse/slow_log.h"

#include <gtest/gtest.h>

#include <cerrno>

namespace rdmablk::fuse {
namespace {

using namespace std::chrono_literals;

constexpr SlowRequest::Clock::time_point kStart{1h};

struct SlowRead : Slot {
  SlowRead() {
    operation = initiator::Operation::read;
    offset = 8192;
    length = 4096;
    taken_at = kStart;
    submitted_at = kStart + 5ms;
  }
};

TEST(SlowLog, SaysWhereARequestWaited) {
  SlowRead slot;
  slot.progress.posted_at = kStart + 1005ms;
  const SlowRequest request{
      .slot = slot, .error = 0, .completed_at = kStart + 1305ms, .answered_at = kStart + 1306ms};
  EXPECT_EQ(
      request.text(),
      "slow: a read of 4096 bytes at 8192 took 1306.0 ms: 5.0 ms until it had a slot, 1000.0 "
      "ms until it was posted, 300.0 ms on the wire and at the target, 1.0 ms for the answer");
}

TEST(SlowLog, SaysOfWhatWasNeverPostedThatItWasInTheQueue) {
  SlowRead slot;
  const SlowRequest request{
      .slot = slot, .error = EIO, .completed_at = kStart + 2005ms, .answered_at = kStart + 2005ms};
  EXPECT_EQ(
      request.text(),
      "slow: a read of 4096 bytes at 8192 (Input/output error) took 2005.0 ms: 5.0 ms until it "
      "had a slot, 2000.0 ms in the queue, 0.0 ms for the answer");
}

TEST(SlowLog, AFlushHasNoPlace) {
  SlowRead slot;
  slot.operation = initiator::Operation::flush;
  const SlowRequest request{
      .slot = slot, .error = 0, .completed_at = kStart + 2s, .answered_at = kStart + 2s};
  EXPECT_TRUE(request.text().starts_with("slow: a flush took 2000.0 ms: ")) << request.text();
}

TEST(SlowLog, SlowIsWhatTakesLongerThanTheLimit) {
  EXPECT_FALSE(SlowLog(1s).is_slow(1s));
  EXPECT_TRUE(SlowLog(1s).is_slow(1001ms));
  EXPECT_FALSE(SlowLog(0s).is_slow(24h)) << "there is no limit";
}

}  // namespace
}  // namespace rdmablk::fuse
