#include "initiator/dirty_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <random>
#include <thread>

namespace rdmablk::initiator {
namespace {

using protocol::Range;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

using Pairs = std::vector<std::pair<std::uint64_t, std::uint64_t>>;

/// Offset and length of all ranges of the snapshot.
Pairs snapshot(const DirtyMap& map) {
  Pairs ranges;
  for (auto range = map.next(0); range; range = map.next(range->offset + range->length)) {
    ranges.emplace_back(range->offset, range->length);
  }
  return ranges;
}

constexpr std::uint64_t kGranule = 4096;

TEST(DirtyMap, IsCleanAtFirst) {
  DirtyMap map(1 << 20);
  map.take();
  EXPECT_THAT(snapshot(map), IsEmpty());
}

TEST(DirtyMap, TellsWholeGranulesThatTouchAsOneRange) {
  DirtyMap map(100 * kGranule);
  map.mark(kGranule - 1, 2);
  map.mark(2 * kGranule, 1);
  map.mark(60 * kGranule, 10 * kGranule);  // across words
  map.take();
  EXPECT_THAT(snapshot(map),
              ElementsAre(std::pair(0, 3 * kGranule), std::pair(60 * kGranule, 10 * kGranule)));
}

TEST(DirtyMap, CutsTheLastRangeToTheSize) {
  DirtyMap map(64 * kGranule + 512);
  map.mark(64 * kGranule, 512);
  map.take();
  EXPECT_THAT(snapshot(map), ElementsAre(std::pair(64 * kGranule, 512)));
  map.mark(0, 64 * kGranule + 512);
  map.take();
  EXPECT_THAT(snapshot(map), ElementsAre(std::pair(0, 64 * kGranule + 512)));
}

TEST(DirtyMap, TellsNothingPastASmallerSize) {
  DirtyMap map(100 * kGranule);
  map.mark(10 * kGranule, 80 * kGranule);
  map.mark(95 * kGranule, kGranule);
  map.resize(50 * kGranule + 512);
  map.take();
  EXPECT_THAT(snapshot(map), ElementsAre(std::pair(10 * kGranule, 40 * kGranule + 512)));
  EXPECT_TRUE(map.is_clean());
}

TEST(DirtyMap, TellsWhatIsMarkedInALargerSize) {
  DirtyMap map(kGranule + 512);
  map.mark(kGranule, 512);
  map.resize(1000 * kGranule);
  map.mark(999 * kGranule, kGranule);
  map.take();
  EXPECT_THAT(snapshot(map),
              ElementsAre(std::pair(kGranule, kGranule), std::pair(999 * kGranule, kGranule)));
}

/// The image grows while the ranges are told: none is told twice.
TEST(DirtyMap, GoesOnBehindAnEndThatIsNoneAnyMore) {
  DirtyMap map(kGranule + 512);
  map.mark(0, kGranule + 512);
  map.take();
  const auto first = map.next(0);
  map.resize(10 * kGranule);
  EXPECT_EQ(first->length, kGranule + 512);
  EXPECT_FALSE(map.next(first->length));
}

/// There is one granule for all that is behind what the map has room for.
TEST(DirtyMap, TellsAllPastWhatItHasRoomFor) {
  constexpr std::uint64_t kHuge = std::uint64_t{1} << 40;
  DirtyMap map(1 << 20);
  map.resize(kHuge);
  map.mark(kHuge - 1, 1);
  map.take();
  const auto range = map.next(0);
  ASSERT_TRUE(range);
  EXPECT_EQ(range->offset + range->length, kHuge);
  EXPECT_LE(range->offset, std::uint64_t{16} << 30U);
  EXPECT_FALSE(map.next(kHuge));
}

TEST(DirtyMap, KeepsWhatIsMarkedAfterASnapshotForTheNext) {
  DirtyMap map(1 << 20);
  map.mark(0, 1);
  map.take();
  map.mark(kGranule, 1);
  EXPECT_THAT(snapshot(map), ElementsAre(std::pair(0, kGranule)));
  map.take();
  EXPECT_THAT(snapshot(map), ElementsAre(std::pair(kGranule, kGranule)));
  map.take();
  EXPECT_THAT(snapshot(map), IsEmpty());
}

TEST(DirtyMap, PutsASnapshotBack) {
  DirtyMap map(1 << 20);
  map.mark(0, 1);
  map.take();
  map.mark(2 * kGranule, 1);
  map.restore();
  EXPECT_THAT(snapshot(map), IsEmpty());
  map.take();
  EXPECT_THAT(snapshot(map),
              ElementsAre(std::pair(0, kGranule), std::pair(2 * kGranule, kGranule)));
}

TEST(DirtyMap, StaysSmallForALargeImage) {
  constexpr std::uint64_t kTebibyte = std::uint64_t{1} << 40U;
  DirtyMap map(16 * kTebibyte);
  EXPECT_EQ(map.granule(), 512U << 10U);
  map.mark(16 * kTebibyte - 1, 1);
  map.take();
  EXPECT_THAT(snapshot(map), ElementsAre(std::pair(16 * kTebibyte - map.granule(), map.granule())));
}

/// Marks, snapshots and restorations at random, against one bool a granule.
TEST(DirtyMap, AgreesWithAPlainModel) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t granules = 1 + random() % 9000;
    const std::uint64_t size = (granules - 1) * kGranule + 512 * (1 + random() % 8);
    DirtyMap map(size);
    std::vector<bool> dirty(granules);
    std::vector<bool> taken(granules);
    const auto expected = [&] {
      Pairs ranges;
      for (std::uint64_t i = 0; i < granules; ++i) {
        if (!taken[i]) continue;
        const std::uint64_t start = i * kGranule;
        while (i < granules && taken[i]) ++i;
        ranges.emplace_back(start, std::min(i * kGranule, size) - start);
      }
      return ranges;
    };
    for (int step = 0; step < 100; ++step) {
      const auto what = random() % 10;
      if (what < 8) {
        const std::uint64_t offset = random() % size;
        const std::uint64_t most = std::min<std::uint64_t>(size - offset, 1U << (random() % 25U));
        const std::uint64_t length = 1 + random() % most;
        map.mark(offset, length);
        for (auto i = offset / kGranule; i <= (offset + length - 1) / kGranule; ++i) {
          dirty[i] = true;
        }
      } else if (what == 8) {
        map.take();
        taken = std::exchange(dirty, std::vector<bool>(granules));
      } else {
        map.restore();
        for (std::uint64_t i = 0; i < granules; ++i) dirty[i] = dirty[i] || taken[i];
        taken.assign(granules, false);
      }
      ASSERT_EQ(snapshot(map), expected()) << "round " << round << ", step " << step;
    }
  }
}

/// Two threads that mark the same words, one that takes: nothing that a thread has marked and
/// announced is missing from the snapshots up to then. Both mark the same granule, as one of them
/// may find the other half way.
TEST(DirtyMap, LosesNothingBetweenThreads) {
  constexpr std::uint64_t kRounds = 20000;
  constexpr std::uint64_t kGranules = 200;
  DirtyMap map(kGranules * kGranule);
  std::atomic<std::uint64_t> begun = 0;
  std::array<std::atomic<std::uint64_t>, 2> marked{};
  std::vector<std::thread> markers;
  for (auto& mine : marked) {
    markers.emplace_back([&] {
      for (std::uint64_t round = 1; round <= kRounds; ++round) {
        while (begun.load() < round) std::this_thread::yield();
        map.mark(round * 67 % kGranules * kGranule, 1);
        mine.store(round);
      }
    });
  }
  std::uint64_t missed = 0;
  for (std::uint64_t round = 1; round <= kRounds; ++round) {
    begun.store(round);
    bool seen = false;
    const auto look = [&] {
      map.take();
      const std::uint64_t offset = round * 67 % kGranules * kGranule;
      const auto range = map.next(offset);
      seen = seen || (range && range->offset == offset);
    };
    while (marked[0].load() < round && marked[1].load() < round) {
      look();
      std::this_thread::yield();  // to the markers, where there are fewer processors than threads
    }
    // One has announced it.
    look();
    missed += seen ? 0 : 1;
    while (marked[0].load() < round || marked[1].load() < round) std::this_thread::yield();
    map.take();
  }
  for (auto& marker : markers) marker.join();
  EXPECT_EQ(missed, 0U);
}

TEST(DirtyMapTest, IsCleanWhileNothingIsMarked) {
  DirtyMap map(std::uint64_t{1} << 30U);
  EXPECT_TRUE(map.is_clean());
  map.mark((std::uint64_t{1} << 30U) - 1, 1);
  EXPECT_FALSE(map.is_clean());
  map.take();
  EXPECT_TRUE(map.is_clean());
  map.restore();
  EXPECT_FALSE(map.is_clean());
}

}  // namespace
}  // namespace rdmablk::initiator
