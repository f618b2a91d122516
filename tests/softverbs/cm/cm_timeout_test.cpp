// Peers that live but do not answer: the handshake is given up after a minute.

#include <poll.h>

#include <cerrno>

#include "tests/softverbs/cm/cm_support.h"

namespace softverbs::cm_test {
namespace {

constexpr int kMoreThanAMinuteMs = 75'000;

EventPtr expect_timeout(const ChannelPtr& channel, rdma_cm_event_type type) {
  pollfd waiting{channel->fd, POLLIN, 0};
  poll(&waiting, 1, kMoreThanAMinuteMs);
  EventPtr event = expect_event(channel, type);
  EXPECT_EQ(-ETIMEDOUT, event->status);
  return event;
}

TEST(Timeout, EndsEveryStepThatWaitsForThePeer) {
  Pair unanswered;
  unanswered.request(parameters());

  Pair unread_reply;
  unread_reply.request(parameters());
  make_qp(unread_reply.passive.get());
  rdma_conn_param parameter = parameters();
  ASSERT_EQ(0, rdma_accept(unread_reply.passive.get(), &parameter));

  Pair disconnecting;
  disconnecting.connect();
  ASSERT_EQ(0, rdma_disconnect(disconnecting.active.get()));
  expect_event(disconnecting.passive_channel, RDMA_CM_EVENT_DISCONNECTED);

  expect_timeout(unanswered.active_channel, RDMA_CM_EVENT_UNREACHABLE);
  expect_timeout(unread_reply.passive_channel, RDMA_CM_EVENT_UNREACHABLE);
  expect_timeout(disconnecting.active_channel, RDMA_CM_EVENT_DISCONNECTED);
  expect_event(disconnecting.active_channel, RDMA_CM_EVENT_TIMEWAIT_EXIT);
}

}  // namespace
}  // namespace softverbs::cm_test
