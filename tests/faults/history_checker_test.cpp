// Histories made by hand, good ones and bad ones of every kind, and random ones of a register that
// is right by construction.
#include "tests/faults/history_checker.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <deque>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

namespace rdmablk::faults {
namespace {

constexpr Tag kA = make_tag(0, 1);
constexpr Tag kB = make_tag(1, 1);
constexpr Tag kC = make_tag(2, 1);

/// A history of one word, told in the order in which things end.
class History {
 public:
  explicit History(Effects effects = Effects::once) : checker_(1, effects) {}

  History& write(Tag tag, Time start, Time end) { return begin(tag, start).acknowledge(tag, end); }
  History& begin(Tag tag, Time start) {
    checker_.begin_write(0, tag, start);
    return *this;
  }
  History& acknowledge(Tag tag, Time end) {
    checker_.end_write(0, tag, end);
    return *this;
  }
  History& fail(Tag tag) {
    checker_.fail_write(0, tag);
    return *this;
  }
  History& fence(Tag tag, Time at) {
    checker_.settle_write(0, tag, at);
    return *this;
  }
  History& read(Tag tag, Time start, Time end) {
    checker_.read(0, tag, start, end);
    return *this;
  }
  History& advance(Time horizon) {
    checker_.advance(horizon);
    return *this;
  }
  /// The breach, if there is one.
  std::optional<Breach> verdict() {
    checker_.finish();
    if (!checker_.violation()) return std::nullopt;
    return checker_.violation()->breach;
  }

 private:
  HistoryChecker checker_;
};

class InBothModes : public testing::TestWithParam<Effects> {
 protected:
  History history() const { return History(GetParam()); }
};
INSTANTIATE_TEST_SUITE_P(HistoryChecker, InBothModes,
                         testing::Values(Effects::once, Effects::repeated),
                         [](const auto& param_info) {
                           return param_info.param == Effects::once ? "once" : "repeated";
                         });

TEST_P(InBothModes, WhatWasWrittenIsRead) {
  EXPECT_FALSE(history().read(0, 1, 2).write(kA, 3, 4).read(kA, 5, 6).read(kA, 7, 8).verdict());
}

TEST_P(InBothModes, AReadBesideAWriteSeesEither) {
  EXPECT_FALSE(history().begin(kA, 1).read(0, 2, 3).acknowledge(kA, 4).verdict());
  EXPECT_FALSE(history().begin(kA, 1).read(kA, 2, 3).acknowledge(kA, 4).verdict());
  EXPECT_FALSE(history().begin(kA, 1).acknowledge(kA, 4).read(0, 3, 6).read(kA, 3, 7).verdict());
}

TEST_P(InBothModes, WritesBesideEachOtherEndInEitherOrder) {
  EXPECT_FALSE(history().write(kA, 1, 5).write(kB, 2, 6).read(kA, 7, 8).verdict());
  EXPECT_FALSE(history().write(kA, 1, 5).write(kB, 2, 6).read(kB, 7, 8).verdict());
}

TEST_P(InBothModes, ButInOne) {
  EXPECT_EQ(history().write(kA, 1, 5).write(kB, 2, 6).read(kA, 7, 8).read(kB, 9, 10).verdict(),
            Breach::contradiction);
}

TEST_P(InBothModes, AnAcknowledgedWriteIsLost) {
  EXPECT_EQ(history().write(kA, 1, 2).read(0, 3, 4).verdict(), Breach::contradiction);
  EXPECT_EQ(history().write(kA, 1, 2).write(kB, 3, 4).read(kA, 5, 6).verdict(),
            Breach::contradiction);
}

TEST_P(InBothModes, AValueIsReadThatWasOverwrittenLongAgo) {
  EXPECT_EQ(history().write(kA, 1, 2).write(kB, 3, 4).advance(10).read(kA, 11, 12).verdict(),
            Breach::stale);
}

TEST_P(InBothModes, AValueResurfacesAfterANewerOneWasRead) {
  EXPECT_EQ(history()
                .write(kA, 1, 2)
                .begin(kB, 3)
                .read(kB, 4, 5)
                .read(kA, 6, 7)
                .read(kB, 8, 9)
                .acknowledge(kB, 10)
                .read(kA, 11, 12)
                .verdict(),
            Breach::contradiction);
}

TEST_P(InBothModes, SomethingIsReadThatNobodyWrote) {
  EXPECT_EQ(history().write(kA, 1, 2).read(kC, 3, 4).verdict(), Breach::invented);
  EXPECT_EQ(history().write(kA, 1, 2).read(kC, 3, 4).advance(5).verdict(), Breach::invented);
}

TEST_P(InBothModes, AReadMayBeToldBeforeTheWriteIsKnown) {
  EXPECT_FALSE(history().read(kA, 3, 4).advance(2).begin(kA, 2).acknowledge(kA, 9).verdict());
}

TEST_P(InBothModes, AReadMayBeToldBeforeTheWritesEnd) {
  EXPECT_FALSE(history().begin(kA, 1).read(kA, 5, 6).acknowledge(kA, 2).read(kA, 7, 8).verdict());
  EXPECT_FALSE(history().begin(kA, 1).read(kA, 3, 6).acknowledge(kA, 4).read(kA, 7, 8).verdict());
}

TEST_P(InBothModes, AReadToldBeforeTheWritesEndCounts) {
  EXPECT_EQ(history()
                .begin(kA, 1)
                .read(kA, 8, 9)
                .write(kB, 4, 5)
                .read(kB, 6, 7)
                .acknowledge(kA, 2)
                .verdict(),
            Breach::contradiction);
}

TEST_P(InBothModes, AValueIsReadBeforeItsWriteBegan) {
  EXPECT_EQ(history().read(kA, 1, 2).begin(kA, 3).acknowledge(kA, 4).verdict(), Breach::premature);
}

TEST_P(InBothModes, AFailedWriteHappensOrNot) {
  EXPECT_FALSE(history().begin(kA, 1).fail(kA).read(0, 4, 5).read(0, 6, 7).verdict());
  EXPECT_FALSE(history().begin(kA, 1).fail(kA).read(kA, 4, 5).read(kA, 6, 7).verdict());
  EXPECT_FALSE(history().begin(kA, 1).fail(kA).read(0, 4, 5).read(kA, 6, 7).verdict()) << "late";
}

TEST_P(InBothModes, AFailedWriteHappensOverANewerOneUntilItIsFenced) {
  EXPECT_FALSE(
      history().begin(kA, 1).fail(kA).write(kB, 4, 5).read(kA, 6, 7).fence(kA, 8).verdict());
  EXPECT_FALSE(
      history().begin(kA, 1).fail(kA).write(kB, 4, 5).fence(kA, 8).read(kA, 9, 10).verdict());
}

TEST_P(InBothModes, AFailedWriteHappensAfterItWasFenced) {
  // At 9 the newer one is there, after the fence; so the older one came later.
  EXPECT_EQ(history()
                .begin(kA, 1)
                .fail(kA)
                .fence(kA, 3)
                .write(kB, 4, 5)
                .read(kB, 6, 7)
                .read(kA, 8, 9)
                .verdict(),
            Breach::contradiction);
  EXPECT_EQ(history().begin(kA, 1).fail(kA).fence(kA, 3).read(0, 4, 5).read(kA, 6, 7).verdict(),
            Breach::contradiction);
}

TEST_P(InBothModes, AReplayedOldWriteOverwritesANewerOneOfAnotherQueue) {
  // A was replayed and acknowledged; its first copy comes out of the network after B.
  EXPECT_EQ(history().write(kA, 1, 6).write(kB, 7, 8).read(kB, 9, 10).read(kA, 11, 12).verdict(),
            Breach::contradiction);
  EXPECT_EQ(history().write(kA, 1, 6).write(kB, 7, 8).read(kA, 9, 10).verdict(),
            Breach::contradiction);
}

TEST_P(InBothModes, ASettledFailureThatNobodySawIsForgotten) {
  HistoryChecker checker(1, GetParam());
  for (Tag tag = 1; tag <= 1000; ++tag) {
    const auto time = static_cast<Time>(10 * tag);
    checker.begin_write(0, make_tag(0, tag), time);
    checker.fail_write(0, make_tag(0, tag));
    checker.settle_write(0, make_tag(0, tag), time + 2);
    checker.begin_write(0, make_tag(1, tag), time + 3);
    checker.end_write(0, make_tag(1, tag), time + 4);
    checker.advance(time + 5);
  }
  EXPECT_FALSE(checker.violation());
  EXPECT_LE(checker.remembered(), 4U);
}

// With repeated effects a value that is still being written may come and go; not when it has ended.
TEST(HistoryChecker, AWriteInFlightTakesEffectAgain) {
  const auto told = [](Effects effects) {
    History history(effects);
    history.begin(kA, 1).read(kA, 2, 3).write(kB, 4, 5).read(kB, 6, 7).read(kA, 8, 9);
    return history;
  };
  EXPECT_EQ(told(Effects::once).acknowledge(kA, 10).verdict(), Breach::contradiction);
  EXPECT_FALSE(told(Effects::repeated).acknowledge(kA, 10).verdict());
  EXPECT_EQ(told(Effects::repeated).acknowledge(kA, 10).read(kB, 11, 12).read(kA, 13, 14).verdict(),
            Breach::contradiction);
}

TEST(HistoryChecker, AValueIsNotThereWhileAnotherOneIsForSure) {
  for (const Effects effects : {Effects::once, Effects::repeated}) {
    History history(effects);
    history.write(kA, 1, 2).begin(kB, 3).read(kA, 4, 5).read(kB, 6, 7).read(kA, 8, 9);
    EXPECT_EQ(history.verdict(), Breach::contradiction);
  }
}

TEST(HistoryChecker, WordsAreApart) {
  HistoryChecker checker(2, Effects::once);
  checker.begin_write(0, kA, 1);
  checker.begin_write(1, kA, 1);
  checker.end_write(0, kA, 5);
  checker.read(1, 0, 6, 7);
  checker.read(0, kA, 6, 7);
  EXPECT_FALSE(checker.violation()) << checker.violation()->text;
  checker.end_write(1, kA, 8);
  checker.read(1, 0, 9, 10);
  ASSERT_TRUE(checker.violation());
  EXPECT_EQ(checker.violation()->word, 1U);
  EXPECT_NE(checker.violation()->text.find("writer 0's 1"), std::string::npos);
}

/// Operations on one register, made so that they are right: each takes effect at one moment.
struct Operation {
  Tag tag = 0;  ///< Written, or returned.
  bool is_write = false;
  bool fails = false;
  Time start = 0;
  Time effect = 0;
  Time end = 0;
};

std::vector<Operation> right_history(unsigned seed, int count) {
  std::mt19937 random(seed);
  const auto pick = [&](int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random);
  };
  std::vector<Operation> operations;
  Time effect = 0;
  Tag value = 0;
  for (int i = 0; i < count; ++i) {
    effect += pick(2, 6);
    Operation operation;
    operation.effect = effect;
    operation.start = effect - pick(1, 40);
    operation.end = effect + pick(1, 40);
    operation.is_write = pick(0, 2) == 0;
    operation.fails = operation.is_write && pick(0, 4) == 0;
    if (operation.is_write) {
      operation.tag =
          make_tag(static_cast<unsigned>(pick(0, 5)), static_cast<std::uint64_t>(i) + 1);
      const bool takes_effect = !operation.fails || pick(0, 1) == 0;
      if (takes_effect) value = operation.tag;
    } else {
      operation.tag = value;
    }
    operations.push_back(operation);
  }
  return operations;
}

/// One of the two things that are told of an operation.
struct Step {
  Time time;
  bool begins;
  const Operation* operation;
};

void tell(HistoryChecker& checker, const Step& step) {
  const Operation& operation = *step.operation;
  if (step.begins) {
    if (operation.is_write) checker.begin_write(0, operation.tag, operation.start);
  } else if (!operation.is_write) {
    checker.read(0, operation.tag, operation.start, operation.end);
  } else if (operation.fails) {
    checker.fail_write(0, operation.tag);
    checker.settle_write(0, operation.tag, operation.end);
  } else {
    checker.end_write(0, operation.tag, operation.end);
  }
}

/// Tells the operations as several lanes do that are read one after the other, in any order, and
/// forgets what can be forgotten.
std::optional<Violation> check(const std::vector<Operation>& operations, Effects effects,
                               unsigned seed) {
  constexpr std::size_t kLanes = 4;
  HistoryChecker checker(1, effects);
  std::mt19937 random(seed);
  std::array<std::deque<Step>, kLanes> lanes;
  for (std::size_t i = 0; i < operations.size(); ++i) {
    lanes[i % kLanes].push_back({operations[i].start, true, &operations[i]});
    lanes[i % kLanes].push_back({operations[i].end, false, &operations[i]});
  }
  for (auto& lane : lanes) {
    std::stable_sort(lane.begin(), lane.end(),
                     [](const Step& one, const Step& other) { return one.time < other.time; });
  }
  const Time last = operations.back().end + 100;
  for (Time time = -100; time < last; time += random() % 30) {
    Time horizon = time;
    for (const Operation& each : operations) {
      if (each.start <= time && each.end > time) horizon = std::min(horizon, each.start);
    }
    std::array<std::size_t, kLanes> order{0, 1, 2, 3};
    std::shuffle(order.begin(), order.end(), random);
    Time until = time;
    for (const std::size_t lane : order) {
      for (; !lanes[lane].empty() && lanes[lane].front().time <= until; lanes[lane].pop_front()) {
        tell(checker, lanes[lane].front());
      }
      until += random() % 20;
    }
    checker.advance(horizon);
  }
  checker.finish();
  return checker.violation();
}

TEST(HistoryChecker, RightHistoriesAreExplained) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    const auto operations = right_history(seed, 400);
    for (const Effects effects : {Effects::once, Effects::repeated}) {
      const auto violation = check(operations, effects, seed);
      EXPECT_FALSE(violation) << "seed " << seed << ": " << violation->text;
    }
  }
}

// A read returns what had been overwritten by an acknowledged write before it began.
TEST(HistoryChecker, OneWrongReadIsFound) {
  int made = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    auto operations = right_history(seed, 400);
    const auto is_old = [&](const Operation& old, const Operation& read) {
      return std::any_of(operations.begin(), operations.end(), [&](const Operation& newer) {
        return newer.is_write && !newer.fails && newer.start > old.end && newer.end < read.start;
      });
    };
    std::mt19937 random(seed);
    for (int tries = 0; tries < 1000; ++tries) {
      Operation& read = operations[random() % operations.size()];
      const Operation& old = operations[random() % operations.size()];
      if (read.is_write || !old.is_write || old.fails || !is_old(old, read)) continue;
      read.tag = old.tag;
      ++made;
      EXPECT_TRUE(check(operations, Effects::once, seed)) << "seed " << seed;
      EXPECT_TRUE(check(operations, Effects::repeated, seed)) << "seed " << seed;
      break;
    }
  }
  EXPECT_GT(made, 50);
}

/// Whether some order of the operations explains them: by trying all.
bool explained(std::vector<Operation> left, Tag value) {
  const auto must_happen = [](const Operation& each) { return !each.fails; };
  if (std::none_of(left.begin(), left.end(), must_happen)) return true;
  for (std::size_t i = 0; i < left.size(); ++i) {
    const Operation next = left[i];
    const bool may_be_next = std::none_of(left.begin(), left.end(), [&](const Operation& other) {
      return must_happen(other) && other.end < next.start;
    });
    if (!may_be_next || (!next.is_write && next.tag != value)) continue;
    std::vector<Operation> rest = left;
    rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(i));
    // What could have happened only before this one has not happened.
    std::erase_if(rest,
                  [&](const Operation& other) { return other.fails && other.end < next.start; });
    if (explained(std::move(rest), next.is_write ? next.tag : value)) return true;
  }
  return false;
}

/// A few operations at moments of their own, of which the reads return anything.
std::vector<Operation> any_history(std::mt19937& random) {
  std::vector<Time> times(12);
  std::iota(times.begin(), times.end(), Time{1});
  std::shuffle(times.begin(), times.end(), random);
  std::vector<Operation> operations;
  for (std::size_t i = 0; i < times.size(); i += 2) {
    Operation operation;
    std::tie(operation.start, operation.end) = std::minmax(times[i], times[i + 1]);
    operation.is_write = i < 6;
    operation.fails = operation.is_write && random() % 4 == 0;
    operation.tag = operation.is_write ? i / 2 + 1 : random() % 4;
    operations.push_back(operation);
  }
  return operations;
}

TEST(HistoryChecker, AgreesWithTryingAllOrders) {
  std::mt19937 random(1);
  int right = 0;
  constexpr int kHistories = 20'000;
  for (int i = 0; i < kHistories; ++i) {
    const auto operations = any_history(random);
    const bool expected = explained(operations, 0);
    right += expected ? 1 : 0;
    const auto violation = check(operations, Effects::once, static_cast<unsigned>(i));
    ASSERT_EQ(!violation, expected) << "history " << i << (violation ? violation->text : "");
    if (expected) {
      ASSERT_FALSE(check(operations, Effects::repeated, static_cast<unsigned>(i)))
          << "history " << i;
    }
  }
  EXPECT_GT(right, kHistories / 50);
  EXPECT_LT(right, kHistories / 2);
}

}  // namespace
}  // namespace rdmablk::faults
