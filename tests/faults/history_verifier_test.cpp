// The way from writers, which may be killed, to the checker.
#include "tests/faults/history_verifier.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <string>
#include <thread>

#include "tests/faults/lane_writer.h"

namespace rdmablk::faults {
namespace {

const Shape kShape{2, 1, 4, 0, 0};

struct HistoryVerifierTest : testing::Test {
  SharedHistory history = SharedHistory::in_memory(kShape);
  HistoryVerifier verifier{history};

  LaneWriter writer() { return LaneWriter(history, *history.claim(), 4); }
  void read(LaneWriter& writer, std::uint32_t word, Tag tag) {
    writer.begin_read(3, {word, 1});
    writer.end_read(3, std::array{tag});
  }
  const std::optional<Violation>& verdict() {
    verifier.advance();
    return verifier.checker().violation();
  }
};

TEST_F(HistoryVerifierTest, AWriteOfSomeWordsIsOneOfEach) {
  LaneWriter one = writer();
  const Tag tag = one.begin_write(0, {1, 2});
  one.end_write(0);
  one.begin_read(1, {0, 4});
  one.end_read(1, std::array<Tag, 4>{0, tag, tag, 0});
  EXPECT_FALSE(verdict());
  EXPECT_EQ(verifier.checker().reads(), 4U);
  read(one, 3, tag);
  verifier.finish();
  EXPECT_EQ(verifier.checker().violation()->breach, Breach::invented);
}

TEST_F(HistoryVerifierTest, ALostWriteIsFound) {
  LaneWriter one = writer();
  LaneWriter other = writer();
  one.begin_write(0, {0, 1});
  one.end_write(0);
  EXPECT_FALSE(verdict());
  read(other, 0, 0);
  ASSERT_TRUE(verdict());
}

TEST_F(HistoryVerifierTest, WhatIsInFlightHoldsTheHorizon) {
  LaneWriter one = writer();
  LaneWriter other = writer();
  other.begin_read(0, {0, 1});  // begins before the write
  one.begin_write(0, {0, 1});
  one.end_write(0);
  EXPECT_FALSE(verdict());
  other.end_read(0, std::array<Tag, 1>{0});
  EXPECT_FALSE(verdict());
}

TEST_F(HistoryVerifierTest, SettlingIsOfOneSessionOrOfAll) {
  for (const bool all : {false, true}) {
    SharedHistory told = SharedHistory::in_memory(kShape);
    HistoryVerifier checks(told);
    LaneWriter one(told, *told.claim(), 4);
    one.renew(now(), false);
    const Tag failed = one.begin_write(0, {0, 1});
    one.fail(0);
    one.renew(now(), false);
    one.settle(all);
    read(one, 0, 0);
    read(one, 0, failed);
    checks.advance();
    EXPECT_EQ(checks.checker().violation().has_value(), all);
  }
}

/// What one process wrote, its successor fences: `body` is told when it has taken over.
template <typename Before, typename After>
void in_another_process(const SharedHistory& history, Before before, After after, int go) {
  if (fork() != 0) return;
  {
    LaneWriter one(history, *history.claim(), 4);
    one.renew(now(), true);
    before(one);
    char ignored = 0;
    [[maybe_unused]] const ssize_t got = ::read(go, &ignored, 1);
    after(one);
  }
  _exit(0);
}

struct TakeOver : HistoryVerifierTest {
  /// The other process does `before`, then this one takes over, then the other one does `after`.
  template <typename Before, typename After>
  void run(Before before, After after) {
    std::array<int, 2> go{};
    ASSERT_EQ(pipe(go.data()), 0);
    in_another_process(history, before, after, go[0]);
    while (history.lane(0).operations.load() == 0) std::this_thread::yield();
    ASSERT_FALSE(verdict());
    next.emplace(history, *history.claim(), 4);
    next->renew(now(), true);
    ASSERT_FALSE(verdict());
    ASSERT_EQ(::write(go[1], "g", 1), 1);
    wait(nullptr);
    ::close(go[0]);
    ::close(go[1]);
  }
  std::optional<LaneWriter> next;
};

TEST_F(TakeOver, WhatWasInFlightCannotHappenAfterwards) {
  run(
      [](LaneWriter& one) {
        one.begin_write(0, {0, 1});
        one.begin_write(1, {1, 1});
        one.fail(1);
      },
      [](LaneWriter& one) { one.fail(0); });
  EXPECT_FALSE(verdict());
  read(*next, 0, 0);
  read(*next, 1, make_tag(0, 2));
  EXPECT_FALSE(verdict());
  read(*next, 0, make_tag(0, 1));
  EXPECT_TRUE(verdict());
}

TEST_F(TakeOver, ThePredecessorMayNotWriteAfterwards) {
  run(
      [](LaneWriter& one) {
        one.begin_read(0, {0, 1});
        one.fail(0);
      },
      [](LaneWriter& one) {
        one.begin_write(0, {0, 1});
        one.end_write(0);
      });
  ASSERT_TRUE(verdict());
  EXPECT_EQ(verdict()->breach, Breach::trespass);
}

TEST_F(TakeOver, ThePredecessorMayWriteOnceItHasTakenOverItself) {
  run(
      [](LaneWriter& one) {
        one.begin_read(0, {0, 1});
        one.fail(0);
      },
      [](LaneWriter& one) {
        one.renew(now(), true);
        one.begin_write(0, {0, 1});
        one.end_write(0);
      });
  EXPECT_FALSE(verdict());
}

TEST_F(TakeOver, AnAnswerMayComeLate) {
  run(
      [](LaneWriter& one) {
        one.begin_write(0, {0, 1});
        one.begin_read(1, {1, 1});
        one.fail(1);
      },
      [](LaneWriter& one) { one.end_write(0); });
  read(*next, 0, make_tag(0, 1));
  EXPECT_FALSE(verdict());
}

/// A writer in another process, which is killed with a write in flight.
TEST_F(HistoryVerifierTest, AKilledWriterLeavesWhatItHasTold) {
  const pid_t child = fork();
  if (child == 0) {
    LaneWriter one(history, *history.claim(), 4);
    one.begin_write(0, {0, 1});
    one.end_write(0);
    one.begin_write(1, {1, 1});
    kill(getpid(), SIGKILL);
  }
  waitid(P_PID, static_cast<id_t>(child), nullptr, WEXITED | WNOWAIT);
  EXPECT_TRUE(verifier.has_writers());
  EXPECT_FALSE(verdict());
  EXPECT_FALSE(verdict());
  EXPECT_EQ(verifier.deaths(), 1U);
  EXPECT_FALSE(verifier.has_writers()) << "the lane is free again";
  waitpid(child, nullptr, 0);
  LaneWriter next = writer();
  EXPECT_EQ(history.index_of(next.lane()), 0U);
  read(next, 1, 0);
  read(next, 1, make_tag(0, 2));
  EXPECT_FALSE(verdict()) << "it may happen late";
  EXPECT_EQ(next.begin_write(0, {2, 1}), make_tag(0, 3)) << "no tag is used twice";
  next.end_write(0);
  read(next, 0, 0);
  EXPECT_TRUE(verdict()) << "the first one was acknowledged";
}

TEST_F(HistoryVerifierTest, AFullRingWaitsForTheVerifier) {
  LaneWriter one = writer();
  std::jthread verifying([&](const std::stop_token& done) {
    while (!done.stop_requested()) verifier.advance();
    verifier.advance();
  });
  for (std::size_t i = 0; i < 2 * Lane::kRecords; ++i) {
    one.begin_write(0, {0, 1});
    one.end_write(0);
  }
  read(one, 0, make_tag(0, 2 * Lane::kRecords));
  verifying.request_stop();
  verifying.join();
  EXPECT_FALSE(verdict());
  EXPECT_EQ(verifier.checker().reads(), 1U);
}

TEST(SharedHistory, AFileIsOpenedByOthers) {
  const std::string path = testing::TempDir() + "history-" + std::to_string(getpid());
  const SharedHistory made = SharedHistory::create(path, kShape);
  const SharedHistory opened = SharedHistory::open(path);
  EXPECT_EQ(opened.shape().words(), 4U);
  ASSERT_NE(opened.claim(), nullptr);
  ASSERT_NE(made.claim(), nullptr);
  EXPECT_EQ(made.claim(), nullptr) << "there are two";
  made.stop();
  EXPECT_TRUE(opened.stopped());
  unlink(path.c_str());
  EXPECT_THROW(SharedHistory::open(path), std::exception);
  EXPECT_THROW(SharedHistory::open("/dev/null"), std::exception);
}

}  // namespace
}  // namespace rdmablk::faults
