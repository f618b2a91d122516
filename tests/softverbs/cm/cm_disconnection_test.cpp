// The end: disconnecting, and ends that are destroyed in the middle of the handshake.

#include <fcntl.h>

#include <cerrno>

#include "tests/softverbs/cm/cm_support.h"

namespace softverbs::cm_test {
namespace {

TEST(Disconnect, PeerAnswersThenBothLeave) {
  Pair pair;
  pair.connect();
  ASSERT_EQ(0, rdma_disconnect(pair.active.get()));
  EXPECT_EQ(IBV_QPS_ERR, state_of(pair.active->qp));
  EXPECT_EQ(0, expect_event(pair.passive_channel, RDMA_CM_EVENT_DISCONNECTED)->status);
  EXPECT_FALSE(has_event(pair.active_channel)) << "the peer has not answered yet";
  ASSERT_EQ(0, rdma_disconnect(pair.passive.get()));
  EXPECT_EQ(0, expect_event(pair.active_channel, RDMA_CM_EVENT_DISCONNECTED)->status);
  expect_event(pair.active_channel, RDMA_CM_EVENT_TIMEWAIT_EXIT);
  expect_event(pair.passive_channel, RDMA_CM_EVENT_TIMEWAIT_EXIT);
}

TEST(Disconnect, PassiveSideMayBegin) {
  Pair pair;
  pair.connect();
  ASSERT_EQ(0, rdma_disconnect(pair.passive.get()));
  expect_event(pair.active_channel, RDMA_CM_EVENT_DISCONNECTED);
  ASSERT_EQ(0, rdma_disconnect(pair.active.get()));
  expect_event(pair.passive_channel, RDMA_CM_EVENT_DISCONNECTED);
}

TEST(Disconnect, BothAtOnceSeeItOnce) {
  for (int round = 0; round < 20; ++round) {
    Pair pair;
    pair.connect();
    ASSERT_EQ(0, rdma_disconnect(pair.active.get()));
    ASSERT_EQ(0, rdma_disconnect(pair.passive.get()));
    expect_event(pair.active_channel, RDMA_CM_EVENT_DISCONNECTED);
    expect_event(pair.passive_channel, RDMA_CM_EVENT_DISCONNECTED);
    ASSERT_EQ(0, rdma_disconnect(pair.active.get()));
    ASSERT_EQ(0, rdma_disconnect(pair.passive.get()));
    expect_event(pair.active_channel, RDMA_CM_EVENT_TIMEWAIT_EXIT);
    expect_event(pair.passive_channel, RDMA_CM_EVENT_TIMEWAIT_EXIT);
    EXPECT_FALSE(has_event(pair.active_channel));
    EXPECT_FALSE(has_event(pair.passive_channel));
  }
}

TEST(Disconnect, AnswerAfterBothBeganIsNoSecondEvent) {
  // Whether two disconnects cross is a matter of time; of many pairs some do.
  std::vector<Pair> pairs(50);
  for (Pair& pair : pairs) pair.connect();
  for (const Pair& pair : pairs) {
    ASSERT_EQ(0, rdma_disconnect(pair.active.get()));
    ASSERT_EQ(0, rdma_disconnect(pair.passive.get()));
  }
  for (const Pair& pair : pairs) {
    expect_event(pair.active_channel, RDMA_CM_EVENT_DISCONNECTED);
    expect_event(pair.passive_channel, RDMA_CM_EVENT_DISCONNECTED);
    ASSERT_EQ(0, rdma_disconnect(pair.active.get()));
    expect_event(pair.active_channel, RDMA_CM_EVENT_TIMEWAIT_EXIT);
    expect_event(pair.passive_channel, RDMA_CM_EVENT_TIMEWAIT_EXIT);
  }
}

TEST(Disconnect, DestroyedIdDisconnectsItsPeer) {
  Pair pair;
  pair.connect();
  pair.active.reset();
  expect_event(pair.passive_channel, RDMA_CM_EVENT_DISCONNECTED);
  ASSERT_EQ(0, rdma_disconnect(pair.passive.get()));
  expect_event(pair.passive_channel, RDMA_CM_EVENT_TIMEWAIT_EXIT);
}

TEST(Disconnect, DestroyedPeerAnswersADisconnect) {
  Pair pair;
  pair.connect();
  ASSERT_EQ(0, rdma_disconnect(pair.active.get()));
  expect_event(pair.passive_channel, RDMA_CM_EVENT_DISCONNECTED);
  pair.passive.reset();
  expect_event(pair.active_channel, RDMA_CM_EVENT_DISCONNECTED);
}

TEST(Disconnect, ForgottenIdsEndWithTheirChannel) {
  Pair pair;
  pair.connect();
  rdma_cm_id* forgotten = pair.active.release();
  pair.active_channel.reset();
  expect_event(pair.passive_channel, RDMA_CM_EVENT_DISCONNECTED);
  pair.active.reset(forgotten);
}

TEST(Disconnect, BeforeAConnectionIsInvalid) {
  const ChannelPtr channel = make_channel();
  const IdPtr id = make_resolved(channel, "127.0.0.1", 7471);
  EXPECT_EQ(-1, rdma_disconnect(id.get()));
  EXPECT_EQ(EINVAL, errno);
}

TEST(Withdrawn, RequestOfADestroyedIdIsRejectedAtThePassiveSide) {
  Pair pair;
  pair.request(parameters());
  pair.active.reset();
  expect_rejected(pair.passive_channel, kTimeout);
  make_qp(pair.passive.get());
  EXPECT_EQ(EINVAL, accept_with(pair.passive));
}

TEST(Withdrawn, EventsOfAnUnreadRequestComeAfterIt) {
  const ChannelPtr passive_channel = make_channel();
  const ChannelPtr channel = make_channel();
  const IdPtr listener = make_listener(passive_channel, "127.0.0.1");
  IdPtr active = make_resolved(channel, "127.0.0.1", port_of(listener));
  make_qp(active.get());
  ASSERT_EQ(0, connect_again(active));
  make_resolved(channel, "127.0.0.1", 7471);  // by now the request has been sent
  active.reset();
  const IdPtr passive(expect_event(passive_channel, RDMA_CM_EVENT_CONNECT_REQUEST)->id);
  const EventPtr rejected = expect_event(passive_channel, RDMA_CM_EVENT_REJECTED);
  EXPECT_EQ(passive.get(), rejected->id);
}

TEST(Withdrawn, AcceptedButDestroyedBeforeReadingTheReply) {
  Pair pair;
  pair.request(parameters());
  make_qp(pair.passive.get());
  ASSERT_EQ(0, accept_with(pair.passive));
  pair.active.reset();
  expect_rejected(pair.passive_channel, kConsumerDefined);
  EXPECT_EQ(IBV_QPS_ERR, state_of(pair.passive->qp));
}

TEST(Withdrawn, ReplyOfADestroyedIdIsAConnectErrorAndNothingFollows) {
  Pair pair;
  pair.request(parameters());
  make_qp(pair.passive.get());
  ASSERT_EQ(0, accept_with(pair.passive));
  pair.passive.reset();
  pair.listener.reset();
  // Another connection's whole life shows that the end of the first has been seen.
  Pair other;
  other.connect();
  const EventPtr error = expect_event(pair.active_channel, RDMA_CM_EVENT_CONNECT_ERROR);
  EXPECT_LT(error->status, 0);
  EXPECT_EQ(IBV_QPS_ERR, state_of(pair.active->qp));
  // The reject that the peer's end stands for is waiting, but is not shown any more.
  EXPECT_TRUE(has_event(pair.active_channel));
  const int flags = fcntl(pair.active_channel->fd, F_GETFL);
  ASSERT_EQ(0, fcntl(pair.active_channel->fd, F_SETFL, flags | O_NONBLOCK));
  rdma_cm_event* none = nullptr;
  EXPECT_EQ(-1, rdma_get_cm_event(pair.active_channel.get(), &none));
  EXPECT_EQ(EAGAIN, errno);
}

}  // namespace
}  // namespace softverbs::cm_test
