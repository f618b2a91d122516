#include "common/verbs/posted_sends.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace rdmablk::verbs {
namespace {

using Numbers = std::vector<std::uint64_t>;

/// What a completion tells of.
Numbers told(PostedSends& posted, std::uint64_t number) {
  Numbers numbers;
  EXPECT_TRUE(posted.complete(number, [&](std::uint64_t each) { numbers.push_back(each); }));
  return numbers;
}

TEST(PostedSends, ACompletionTellsOfAllThatWerePostedBefore) {
  PostedSends posted(4);
  for (const std::uint64_t number : {7U, 3U, 9U}) posted.add(number);
  EXPECT_EQ(told(posted, 3), (Numbers{7, 3}));
  EXPECT_EQ(told(posted, 9), (Numbers{9}));
  EXPECT_EQ(posted.room(), 4U);
}

TEST(PostedSends, HoldNoMoreThanTheSendQueue) {
  PostedSends posted(3);
  for (std::uint64_t round = 0; round < 10; ++round) {
    while (posted.room() > 0) posted.add(posted.room());
    EXPECT_EQ(told(posted, 2), (Numbers{3, 2})) << round;
    EXPECT_EQ(posted.room(), 2U);
    EXPECT_EQ(told(posted, 1), (Numbers{1}));
  }
}

TEST(PostedSends, TellNothingOfWhatWasNotPosted) {
  PostedSends posted(2);
  posted.add(1);
  const auto visit = [](std::uint64_t) { FAIL() << "nothing has completed"; };
  EXPECT_FALSE(posted.complete(2, visit));
  EXPECT_EQ(told(posted, 1), (Numbers{1}));
  EXPECT_FALSE(posted.complete(1, visit));
}

TEST(PostedSends, WhatIsToldMayPostAnew) {
  PostedSends posted(2);
  posted.add(1);
  posted.add(2);
  EXPECT_TRUE(posted.complete(2, [&](std::uint64_t number) { posted.add(number + 10); }));
  EXPECT_EQ(told(posted, 12), (Numbers{11, 12}));
}

TEST(PostedSends, WhatIsToldMayEndTheQueuePair) {
  PostedSends posted(4);
  for (const std::uint64_t number : {1U, 2U, 3U}) posted.add(number);
  Numbers numbers;
  EXPECT_TRUE(posted.complete(3, [&](std::uint64_t number) {
    numbers.push_back(number);
    posted.forget();
  }));
  EXPECT_EQ(numbers, (Numbers{1}));
  EXPECT_EQ(posted.room(), 4U);
}

}  // namespace
}  // namespace rdmablk::verbs
