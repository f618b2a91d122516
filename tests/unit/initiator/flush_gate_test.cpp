#include "initiator/flush_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <thread>
#include <vector>

namespace rdmablk::initiator {
namespace {

using ::testing::Optional;

bool is_told(const FlushGate::Member& member) {
  pollfd wait{member.fd(), POLLIN, 0};
  return ::poll(&wait, 1, 0) == 1;
}

MATCHER_P2(IsResult, number, error, "") {
  return arg.number == number && arg.error == error;
}

class FlushGateTest : public ::testing::Test {
 protected:
  FlushGate gate_;
  FlushGate::Member a_{gate_};
  FlushGate::Member b_{gate_};
  FlushGate::Member c_{gate_};
};

TEST_F(FlushGateTest, WhoAsksAloneFlushes) {
  EXPECT_FALSE(a_.begin());
  const auto number = a_.ask();
  ASSERT_TRUE(number);
  EXPECT_TRUE(a_.begin());
  EXPECT_FALSE(a_.begin());
  EXPECT_FALSE(a_.take());
  a_.end(0);
  EXPECT_TRUE(a_.has_news());
  EXPECT_THAT(a_.take(), Optional(IsResult(*number, 0)));
  EXPECT_FALSE(a_.take());
  EXPECT_FALSE(a_.has_news());
}

TEST_F(FlushGateTest, WhoAsksBeforeItBeginsSharesIt) {
  const auto number = a_.ask();
  EXPECT_EQ(b_.ask(), number);
  EXPECT_FALSE(b_.begin());
  EXPECT_TRUE(a_.begin());
  a_.end(EIO);
  EXPECT_TRUE(is_told(b_));
  EXPECT_THAT(b_.take(), Optional(IsResult(*number, EIO)));
  EXPECT_FALSE(c_.take());
  EXPECT_FALSE(is_told(c_));
}

TEST_F(FlushGateTest, WhoAsksWhileOneIsUnderWayNeedsTheNext) {
  const auto first = a_.ask();
  ASSERT_TRUE(a_.begin());
  const auto second = b_.ask();
  EXPECT_EQ(*second, *first + 1);
  EXPECT_EQ(a_.ask(), second);
  EXPECT_EQ(c_.ask(), second);
  EXPECT_FALSE(b_.begin());
  a_.end(0);
  EXPECT_THAT(a_.take(), Optional(IsResult(*first, 0)));
  EXPECT_FALSE(b_.take());
  // One of those who asked is told to do it.
  const int begun = (a_.begin() ? 1 : 0) + (b_.begin() ? 2 : 0) + (c_.begin() ? 4 : 0);
  FlushGate::Member& leader = begun == 1 ? a_ : begun == 2 ? b_ : c_;
  EXPECT_TRUE(leader.has_news());
  leader.end(ENOSPC);
  for (auto* member : {&a_, &b_, &c_}) {
    EXPECT_THAT(member->take(), Optional(IsResult(*second, ENOSPC)));
  }
}

TEST_F(FlushGateTest, ResultsAreTakenBeforeANumberOfTheSameKindIsGiven) {
  a_.ask();
  b_.ask();
  ASSERT_TRUE(a_.begin());
  a_.end(0);
  c_.ask();
  ASSERT_TRUE(c_.begin());
  EXPECT_FALSE(b_.ask());  // number 2 would look like the result of 0
  EXPECT_TRUE(b_.take());
  EXPECT_TRUE(b_.ask());
}

TEST_F(FlushGateTest, AnotherTakesOverWhenTheOneThatFlushesLeaves) {
  const auto first = a_.ask();
  b_.ask();
  ASSERT_TRUE(a_.begin());
  const auto second = c_.ask();
  a_.leave();
  EXPECT_TRUE(is_told(b_));
  EXPECT_TRUE(b_.begin());
  b_.end(0);
  EXPECT_THAT(b_.take(), Optional(IsResult(*first, 0)));
  EXPECT_FALSE(a_.take());
  EXPECT_TRUE(c_.begin());
  c_.end(0);
  EXPECT_THAT(c_.take(), Optional(IsResult(*second, 0)));
}

TEST_F(FlushGateTest, GoesOnToTheNextWhenNobodyElseWantedWhatWasLeft) {
  a_.ask();
  ASSERT_TRUE(a_.begin());
  const auto second = b_.ask();
  a_.leave();
  ASSERT_TRUE(b_.begin());
  b_.end(0);
  EXPECT_THAT(b_.take(), Optional(IsResult(*second, 0)));
}

TEST_F(FlushGateTest, IsIdleAgainWhenAllHaveLeft) {
  {
    FlushGate::Member gone(gate_);
    gone.ask();
    EXPECT_TRUE(gone.begin());
  }
  EXPECT_TRUE(a_.ask());
  EXPECT_TRUE(a_.begin());
}

/// What a thread wrote before it asked is in the flush that it is told of.
TEST_F(FlushGateTest, CoversWhatWasWrittenBeforeAsking) {
  constexpr unsigned kThreads = 4;
  std::array<std::atomic<int>, kThreads> written{};
  std::array<std::atomic<int>, kThreads> stable{};
  std::atomic<bool> under_way = false;
  std::atomic<int> violations = 0;
  const auto run = [&](unsigned self) {
    FlushGate::Member member(gate_);
    const auto flush_if_chosen = [&] {
      if (!member.begin()) return;
      if (under_way.exchange(true)) ++violations;
      std::array<int, kThreads> snapshot{};
      for (unsigned i = 0; i < kThreads; ++i) snapshot[i] = written[i].load();
      std::this_thread::yield();
      for (unsigned i = 0; i < kThreads; ++i) stable[i].store(snapshot[i]);
      under_way.store(false);
      member.end(0);
    };
    for (int round = 1; round <= 5000; ++round) {
      written[self].store(round);
      if (!member.ask()) ++violations;
      std::optional<FlushGate::Result> result;
      while (!(result = member.take())) {
        flush_if_chosen();
        std::this_thread::yield();
      }
      if (stable[self].load() < round) ++violations;
    }
  };
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) threads.emplace_back(run, i);
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(violations.load(), 0);
}

TEST_F(FlushGateTest, AFlushIsUnderWayUntilItHasEndedOrIsLeft) {
  a_.ask();
  EXPECT_FALSE(gate_.is_under_way());
  EXPECT_TRUE(a_.begin());
  EXPECT_TRUE(gate_.is_under_way());
  b_.ask();
  a_.leave();
  EXPECT_FALSE(gate_.is_under_way());
  EXPECT_TRUE(b_.begin());
  b_.end(0);
  EXPECT_FALSE(gate_.is_under_way());
}

/// Queues that die one after the other, each while it flushes for those that are left, and come
/// back as other members to ask again.
TEST(FlushGate, MembersThatDieInTurnLeaveTheFlushToTheLast) {
  FlushGate gate;
  std::vector<std::unique_ptr<FlushGate::Member>> members;
  for (int i = 0; i < 4; ++i) {
    members.push_back(std::make_unique<FlushGate::Member>(gate));
    members.back()->ask();
  }
  while (members.size() > 1) {
    ASSERT_TRUE(members.front()->begin());
    members.front()->leave();
    members.erase(members.begin());
  }
  FlushGate::Member returned(gate);
  const auto number = returned.ask();
  ASSERT_TRUE(members.front()->begin());
  members.front()->leave();
  members.clear();
  ASSERT_TRUE(returned.begin());
  returned.end(0);
  EXPECT_THAT(returned.take(), Optional(IsResult(*number, 0)));
}

}  // namespace
}  // namespace rdmablk::initiator
