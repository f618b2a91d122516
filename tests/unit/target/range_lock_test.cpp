#include "target/range_lock.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <random>
#include <thread>
#include <vector>

namespace rdmablk::target {
namespace {

/// A hold that knows whether it is held.
class Range final : public RangeLock::Hold {
 public:
  Range(std::uint64_t first, std::uint64_t last) {
    begin = first;
    end = last;
  }
  bool held = false;
  void on_granted() noexcept override { held = true; }
};

/// Gives back what is held, and what is then, until nobody waits.
void release_all(RangeLock& lock, const std::vector<std::unique_ptr<Range>>& ranges) {
  const auto is_held = [](const auto& range) { return range->held; };
  for (;;) {
    const auto next = std::find_if(ranges.begin(), ranges.end(), is_held);
    if (next == ranges.end()) return;
    (*next)->held = false;
    lock.release(**next);
  }
}

class RangeLockTest : public ::testing::Test {
 protected:
  ~RangeLockTest() override { release_all(lock_, ranges_); }

  void release(Range& range) {
    range.held = false;
    lock_.release(range);
  }

  Range& acquire(std::uint64_t begin, std::uint64_t end) {
    ranges_.push_back(std::make_unique<Range>(begin, end));
    ranges_.back()->held = lock_.acquire(*ranges_.back());
    return *ranges_.back();
  }

  RangeLock lock_;
  std::vector<std::unique_ptr<Range>> ranges_;
};

TEST_F(RangeLockTest, LetsNeighboursIn) {
  EXPECT_TRUE(acquire(100, 200).held);
  EXPECT_TRUE(acquire(0, 100).held);
  EXPECT_TRUE(acquire(200, 201).held);
}

TEST_F(RangeLockTest, KeepsOverlappingRangesApart) {
  Range& middle = acquire(100, 200);
  Range& left = acquire(99, 101);
  Range& right = acquire(199, 201);
  Range& inside = acquire(150, 151);
  for (const Range* range : {&left, &right, &inside}) EXPECT_FALSE(range->held);
  release(middle);
  for (const Range* range : {&left, &right, &inside}) EXPECT_TRUE(range->held);
}

TEST_F(RangeLockTest, WaitsForAllThatIsInTheWay) {
  Range& left = acquire(0, 10);
  Range& right = acquire(20, 30);
  Range& all = acquire(0, 30);
  release(left);
  EXPECT_FALSE(all.held);
  release(right);
  EXPECT_TRUE(all.held);
}

TEST_F(RangeLockTest, DoesNotOvertakeWhoWaits) {
  Range& first = acquire(0, 10);
  Range& waiting = acquire(5, 20);
  Range& late = acquire(15, 25);  // nothing held is in its way
  EXPECT_FALSE(late.held);
  release(first);
  EXPECT_TRUE(waiting.held);
  EXPECT_FALSE(late.held);
  release(waiting);
  EXPECT_TRUE(late.held);
}

/// Passes its range on to itself, a number of times.
class Again final : public RangeLock::Hold {
 public:
  Again(RangeLock& lock, unsigned times) : left(times), lock_(lock) {
    begin = 0;
    end = 1;
  }
  unsigned left;
  void on_granted() noexcept override {
    lock_.release(*this);
    if (--left > 0 && lock_.acquire(*this)) on_granted();
  }

 private:
  RangeLock& lock_;
};

TEST_F(RangeLockTest, MayBeUsedWithinACallback) {
  Range& first = acquire(0, 1);
  Again one(lock_, 10);
  Again other(lock_, 10);
  EXPECT_FALSE(lock_.acquire(one));
  EXPECT_FALSE(lock_.acquire(other));
  release(first);
  EXPECT_EQ(one.left + other.left, 0U);
  EXPECT_TRUE(acquire(0, 1).held);
}

/// What the lock is to do, done plainly: a line of requests, of which one is held when no earlier
/// one that is still there overlaps it.
class LineModel {
 public:
  void add(const Range* range) { line_.push_back(range); }
  void remove(const Range* range) { std::erase(line_, range); }

  bool holds(const Range* range) const {
    for (const Range* earlier : line_) {
      if (earlier == range) return true;
      if (earlier->begin < range->end && range->begin < earlier->end) return false;
    }
    return false;
  }
  const std::vector<const Range*>& line() const { return line_; }

 private:
  std::vector<const Range*> line_;
};

TEST_F(RangeLockTest, DoesWhatThePlainModelDoes) {
  for (std::uint32_t seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    const auto below = [&](std::uint64_t limit) { return random() % limit; };
    RangeLock lock;
    LineModel model;
    std::vector<std::unique_ptr<Range>> there;
    for (int step = 0; step < 1000; ++step) {
      if (there.size() < 30 && below(2) == 0) {
        const std::uint64_t begin = below(100);
        there.push_back(std::make_unique<Range>(begin, begin + 1 + below(12)));
        there.back()->held = lock.acquire(*there.back());
        model.add(there.back().get());
      } else {
        const auto is_held = [](const auto& range) { return range->held; };
        const auto victim = std::find_if(there.begin(), there.end(), is_held);
        ASSERT_TRUE(there.empty() || victim != there.end()) << "nobody holds anything";
        if (there.empty()) continue;
        auto chosen = there.begin() + static_cast<std::ptrdiff_t>(below(there.size()));
        if (!(*chosen)->held) chosen = victim;
        lock.release(**chosen);
        model.remove(chosen->get());
        there.erase(chosen);
      }
      for (const auto& range : there) {
        ASSERT_EQ(range->held, model.holds(range.get())) << "seed " << seed << " step " << step;
      }
    }
    release_all(lock, there);
  }
}

/// One thread's hold, to wait for.
class Awaited final : public RangeLock::Hold {
 public:
  void acquire(RangeLock& lock, std::uint64_t first, std::uint64_t last) {
    begin = first;
    end = last;
    granted_ = false;
    if (!lock.acquire(*this)) granted_.wait(false);
  }
  void on_granted() noexcept override {
    granted_ = true;
    granted_.notify_one();
  }

 private:
  std::atomic<bool> granted_ = false;
};

/// Without exclusion counts get lost (and ThreadSanitizer sees it); when a wake-up is lost the test
/// does not end.
TEST_F(RangeLockTest, KeepsThreadsApart) {
  constexpr std::size_t kCells = 16;
  constexpr unsigned kTurns = 5000;
  std::array<std::uint64_t, kCells> cells{};
  std::atomic<std::uint64_t> expected = 0;
  std::vector<std::thread> threads;
  for (unsigned number = 0; number < 4; ++number) {
    threads.emplace_back([&, number] {
      std::mt19937 random(number);
      auto hold = std::make_unique<Awaited>();
      for (unsigned turn = 0; turn < kTurns; ++turn) {
        const std::uint64_t begin = random() % kCells;
        const std::uint64_t end = begin + 1 + random() % (kCells - begin);
        hold->acquire(lock_, begin, end);
        for (std::uint64_t cell = begin; cell < end; ++cell) ++cells[cell];
        expected += end - begin;
        lock_.release(*hold);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  std::uint64_t sum = 0;
  for (const std::uint64_t cell : cells) sum += cell;
  EXPECT_EQ(sum, expected);
}

}  // namespace
}  // namespace rdmablk::target
