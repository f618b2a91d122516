#include "target/session_events.h"

#include <gtest/gtest.h>

namespace rdmablk::target {
namespace {

TEST(SessionEventsTest, AreToldOneAtATime) {
  SessionEvents events;
  EXPECT_FALSE(events.next());
  events.add(7);
  events.add(8);
  const auto first = events.next();
  ASSERT_TRUE(first);
  EXPECT_EQ(first->attachment, 7U);
  EXPECT_FALSE(events.next());
  EXPECT_FALSE(events.acknowledge(first->tag + 1));
  EXPECT_EQ(events.acknowledge(first->tag)->attachment, 7U);
  EXPECT_FALSE(events.acknowledge(first->tag)) << "once";
  const auto second = events.next();
  EXPECT_EQ(second->attachment, 8U);
  EXPECT_NE(second->tag, first->tag);
}

TEST(SessionEventsTest, WhatWaitsIsToldOnce) {
  SessionEvents events;
  events.add(7);
  const auto first = events.next();
  for (int i = 0; i < 3; ++i) events.add(7);
  events.add(0);
  events.acknowledge(first->tag);
  const auto second = events.next();
  EXPECT_EQ(second->attachment, 7U);
  events.acknowledge(second->tag);
  EXPECT_EQ(events.next()->attachment, 0U) << "the end comes last";
}

TEST(SessionEventsTest, WhatIsSkippedIsNotWaitedFor) {
  SessionEvents events;
  events.add(7);
  events.add(8);
  events.next();
  events.skip();
  EXPECT_EQ(events.next()->attachment, 8U);
}

}  // namespace
}  // namespace rdmablk::target
