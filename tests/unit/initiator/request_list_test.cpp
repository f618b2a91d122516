#include "initiator/request_list.h"

#include <gtest/gtest.h>

#include <array>

namespace rdmablk::initiator {
namespace {

TEST(RequestList, IsEmptyAtFirst) {
  const RequestList list;
  EXPECT_TRUE(list.empty());
  EXPECT_EQ(list.front(), nullptr);
}

TEST(RequestList, GivesOutInTheOrderOfPushing) {
  std::array<Request, 3> requests;
  RequestList list;
  for (Request& request : requests) list.push(request);
  for (Request& request : requests) {
    EXPECT_EQ(list.front(), &request);
    EXPECT_EQ(&list.pop(), &request);
    EXPECT_EQ(request.progress.next, nullptr);
  }
  EXPECT_TRUE(list.empty());
}

TEST(RequestList, CanBeFilledAgainOnceEmpty) {
  Request first;
  Request second;
  RequestList list;
  list.push(first);
  list.pop();
  list.push(second);
  list.push(first);
  EXPECT_EQ(&list.pop(), &second);
  EXPECT_EQ(&list.pop(), &first);
  EXPECT_TRUE(list.empty());
}

TEST(RequestList, ForgetsWhatARequestWasLinkedToBefore) {
  Request stray;
  Request request;
  request.progress.next = &stray;
  RequestList list;
  list.push(request);
  list.pop();
  EXPECT_TRUE(list.empty());
}

TEST(RequestList, GivesOutOneFromAnywhere) {
  std::array<Request, 4> requests;
  for (std::size_t out = 0; out < requests.size(); ++out) {
    RequestList list;
    for (Request& request : requests) list.push(request);
    EXPECT_TRUE(list.remove(requests[out]));
    EXPECT_FALSE(list.remove(requests[out]));
    EXPECT_EQ(requests[out].progress.next, nullptr);
    list.push(requests[out]);  // behind the last one, whichever that is
    for (std::size_t i = 0; i < requests.size(); ++i) {
      if (i == out) continue;
      EXPECT_EQ(&list.pop(), &requests[i]);
    }
    EXPECT_EQ(&list.pop(), &requests[out]);
    EXPECT_TRUE(list.empty());
  }
}

TEST(RequestList, HasNothingToGiveOutWhenEmpty) {
  const Request request;
  RequestList list;
  EXPECT_FALSE(list.remove(request));
}

}  // namespace
}  // namespace rdmablk::initiator
