#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "initiator/resident_queue.h"

namespace rdmablk::initiator {
namespace {

/// What a flush takes that fails then is never out of sight.
TEST(ResidentState, HasUnflushedWhatAFlushTakesMeanwhile) {
  constexpr std::uint64_t kPages = 1 << 20;  // so many that looking at all takes a while
  ResidentState state(kPages * 4096);
  state.dirty.mark((kPages - 1) * 4096, 1);
  std::atomic<bool> ended = false;
  std::jthread flusher([&] {
    FlushGate::Member member(state.gate);
    for (int i = 0; i < 1000; ++i) {
      member.ask();
      EXPECT_TRUE(member.begin());
      state.dirty.take();
      std::this_thread::yield();
      state.dirty.restore();
      member.leave();
      std::this_thread::yield();
    }
    ended = true;
  });
  int missed = 0;
  while (!ended) missed += state.has_unflushed() ? 0 : 1;
  EXPECT_EQ(missed, 0);
}

TEST(ResidentState, HasNothingUnflushedAfterAFlush) {
  ResidentState state(4096);
  EXPECT_FALSE(state.has_unflushed());
  state.dirty.mark(0, 1);
  EXPECT_TRUE(state.has_unflushed());
  FlushGate::Member member(state.gate);
  member.ask();
  ASSERT_TRUE(member.begin());
  state.dirty.take();
  EXPECT_TRUE(state.has_unflushed());
  member.end(0);
  EXPECT_FALSE(state.has_unflushed());
}

}  // namespace
}  // namespace rdmablk::initiator
