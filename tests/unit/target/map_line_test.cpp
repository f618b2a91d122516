#include "target/map_line.h"

#include <gtest/gtest.h>

#include <deque>
#include <vector>

namespace rdmablk::target {
namespace {

TEST(MapLineTest, WorksOnOneAtATimeInTheirOrder) {
  MapLine line(4);
  for (int round = 0; round < 3; ++round) {
    EXPECT_TRUE(line.enter({0, {}}));
    for (const unsigned slot : {1U, 2U, 3U}) EXPECT_FALSE(line.enter({slot, {slot, 1, 0, 0}}));
    for (const unsigned slot : {1U, 2U, 3U}) {
      const auto next = line.leave();
      ASSERT_TRUE(next);
      EXPECT_EQ(next->slot, slot);
      EXPECT_EQ(next->request.offset, slot);
    }
    EXPECT_FALSE(line.leave());
  }
}

TEST(MapLineTest, DropsThoseThatWait) {
  MapLine line(4);
  line.enter({0, {}});
  line.enter({1, {}});
  EXPECT_EQ(line.drop()->slot, 1U);
  EXPECT_FALSE(line.drop());
  EXPECT_FALSE(line.leave());
  EXPECT_TRUE(line.enter({2, {}}));
}

/// The blocking thread is a line of its own, which all queues stand in.
TEST(MapLineTest, AModestQueueIsServedSoonBesideAGreedyOne) {
  constexpr unsigned kGreedy = 1000;
  MapLine greedy(kGreedy);
  MapLine modest(1);
  std::deque<std::pair<MapLine*, unsigned>> thread;
  for (unsigned slot = 0; slot < kGreedy; ++slot) {
    if (greedy.enter({slot, {}})) thread.emplace_back(&greedy, slot);
  }
  if (modest.enter({7, {}})) thread.emplace_back(&modest, 7);
  for (unsigned served = 1;; ++served) {
    ASSERT_FALSE(thread.empty());
    const auto [line, slot] = thread.front();
    thread.pop_front();
    if (const auto next = line->leave()) thread.emplace_back(line, next->slot);
    if (line != &modest) continue;
    EXPECT_LE(served, 2U);
    return;
  }
}

}  // namespace
}  // namespace rdmablk::target
