#include "initiator/work_slots.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <set>

namespace rdmablk::initiator {
namespace {

TEST(WorkSlots, HandOutEachSlotOnce) {
  WorkSlots slots(4);
  Request request;
  std::set<std::uint64_t> taken;
  while (slots.room() > 0) taken.insert(slots.take(&request));
  EXPECT_THAT(taken, testing::ElementsAre(0, 1, 2, 3));
}

TEST(WorkSlots, KnowWhatEachWasTakenFor) {
  std::array<Request, 2> requests;
  WorkSlots slots(3);
  const auto first = slots.take(&requests[0]);
  const auto none = slots.take(nullptr);
  const auto second = slots.take(&requests[1]);
  EXPECT_EQ(slots.release(second), &requests[1]);
  EXPECT_EQ(slots.release(none), nullptr);
  EXPECT_EQ(slots.release(first), &requests[0]);
  EXPECT_EQ(slots.room(), 3U);
}

TEST(WorkSlots, GiveBackAllThatBelongToRequests) {
  std::array<Request, 2> requests;
  WorkSlots slots(4);
  slots.take(&requests[0]);
  slots.take(&requests[1]);
  slots.take(&requests[1]);
  std::multiset<Request*> visited;
  slots.release_all([&](Request& request) { visited.insert(&request); });
  EXPECT_EQ(visited, (std::multiset<Request*>{&requests[0], &requests[1], &requests[1]}));
  EXPECT_EQ(slots.room(), 4U);
}

}  // namespace
}  // namespace rdmablk::initiator
