// Completion queues, completion channels and their events.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <atomic>
#include <thread>

#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

class CompletionQueueTest : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(fcntl(pair.a.channel->fd, F_SETFL, O_NONBLOCK), 0);
    ASSERT_EQ(fcntl(pair.b.channel->fd, F_SETFL, O_NONBLOCK), 0);
  }

  void write(const Endpoint& end, unsigned flags = IBV_SEND_SIGNALED) {
    ibv_send_wr request = write_request(nullptr, 0, 0);
    request.send_flags = flags;
    ASSERT_EQ(end.post(request), 0);
  }
  static bool readable(const Endpoint& end) {
    pollfd entry{end.channel->fd, POLLIN, 0};
    return poll(&entry, 1, 0) == 1;
  }
  /// Takes and acknowledges an event.
  static bool take_event(const Endpoint& end) {
    ibv_cq* cq = nullptr;
    void* cq_context = nullptr;
    if (ibv_get_cq_event(end.channel.get(), &cq, &cq_context) != 0) return false;
    EXPECT_EQ(cq, end.cq.get());
    EXPECT_EQ(cq_context, &end);
    ibv_ack_cq_events(cq, 1);
    return true;
  }

  Owned<ibv_context> context = open_device();
  Pair pair{context.get()};
};

TEST_F(CompletionQueueTest, AnEventComesForTheFirstCompletionAfterArming) {
  write(pair.a);
  EXPECT_FALSE(readable(pair.a));  // Not armed.
  ASSERT_EQ(ibv_req_notify_cq(pair.a.cq.get(), 0), 0);
  EXPECT_FALSE(readable(pair.a));  // The completion was there before.
  write(pair.a, 0);
  EXPECT_FALSE(readable(pair.a));  // No completion.
  write(pair.a);
  EXPECT_TRUE(readable(pair.a));
  write(pair.a);
  EXPECT_TRUE(take_event(pair.a));
  EXPECT_FALSE(readable(pair.a));  // One event for one arming.
  EXPECT_FALSE(take_event(pair.a));
  EXPECT_EQ(errno, EAGAIN);
}

TEST_F(CompletionQueueTest, SolicitedOnlyMeansSolicited) {
  const Buffer in(pair.b.pd, 64);
  ASSERT_EQ(pair.b.receive(in.sge()), 0);
  ASSERT_EQ(pair.b.receive(in.sge()), 0);
  ASSERT_EQ(ibv_req_notify_cq(pair.b.cq.get(), 1), 0);
  ibv_send_wr request = send_request(nullptr);
  ASSERT_EQ(pair.a.post(request), 0);
  pair.b.wait();
  EXPECT_FALSE(readable(pair.b));
  request.send_flags |= IBV_SEND_SOLICITED;
  ASSERT_EQ(pair.a.post(request), 0);
  pair.b.wait();
  EXPECT_TRUE(take_event(pair.b));
}

TEST_F(CompletionQueueTest, AnErrorIsSolicited) {
  const Buffer in(pair.b.pd, 64);
  ASSERT_EQ(pair.b.receive(in.sge()), 0);
  ASSERT_EQ(ibv_req_notify_cq(pair.b.cq.get(), 1), 0);
  ASSERT_EQ(pair.b.to_state(IBV_QPS_ERR), 0);
  EXPECT_TRUE(take_event(pair.b));
}

TEST_F(CompletionQueueTest, ArmingForAllIsNotNarrowed) {
  ASSERT_EQ(ibv_req_notify_cq(pair.a.cq.get(), 0), 0);
  ASSERT_EQ(ibv_req_notify_cq(pair.a.cq.get(), 1), 0);
  write(pair.a);
  EXPECT_TRUE(take_event(pair.a));
}

TEST_F(CompletionQueueTest, ABlockingChannelWaits) {
  ASSERT_EQ(fcntl(pair.b.channel->fd, F_SETFL, 0), 0);
  const Buffer in(pair.b.pd, 64);
  ASSERT_EQ(pair.b.receive(in.sge()), 0);
  ASSERT_EQ(ibv_req_notify_cq(pair.b.cq.get(), 0), 0);
  std::atomic<bool> got{false};
  std::thread waiter([&] { got = take_event(pair.b); });
  ASSERT_EQ(pair.a.post(send_request(nullptr)), 0);
  waiter.join();
  EXPECT_TRUE(got);
  ibv_wc completion{};
  EXPECT_TRUE(pair.b.poll(completion));
}

TEST_F(CompletionQueueTest, DestroyingWaitsForAcknowledgements) {
  ASSERT_EQ(ibv_req_notify_cq(pair.a.cq.get(), 0), 0);
  write(pair.a);
  ibv_cq* cq = nullptr;
  void* cq_context = nullptr;
  ASSERT_EQ(ibv_get_cq_event(pair.a.channel.get(), &cq, &cq_context), 0);
  pair.a.qp.reset();
  std::atomic<bool> acknowledged{false};
  std::thread destroyer([&] {
    pair.a.cq.reset();
    EXPECT_TRUE(acknowledged);
  });
  acknowledged = true;
  ibv_ack_cq_events(cq, 1);
  destroyer.join();
}

TEST_F(CompletionQueueTest, DestroyingDropsEventsThatNobodyTook) {
  ASSERT_EQ(ibv_req_notify_cq(pair.a.cq.get(), 0), 0);
  write(pair.a);
  EXPECT_TRUE(readable(pair.a));
  pair.a.qp.reset();
  pair.a.cq.reset();
  EXPECT_FALSE(readable(pair.a));
}

TEST_F(CompletionQueueTest, DestroyingAQueuePairTakesItsCompletions) {
  write(pair.a);
  pair.a.qp.reset();
  ibv_wc completion{};
  EXPECT_FALSE(pair.a.poll(completion));
}

TEST_F(CompletionQueueTest, ResizingKeepsCompletions) {
  write(pair.a);
  write(pair.a);
  EXPECT_EQ(ibv_resize_cq(pair.a.cq.get(), 1), EINVAL);
  EXPECT_EQ(ibv_resize_cq(pair.a.cq.get(), 2), 0);
  EXPECT_EQ(pair.a.cq->cqe, 2);
  ibv_wc completions[3];
  EXPECT_EQ(ibv_poll_cq(pair.a.cq.get(), 3, completions), 2);
}

TEST(CompletionQueueOverrun, FailsTheQueueAndItsQueuePairs) {
  const Owned<ibv_context> context = open_device();
  Limits limits;
  limits.cqe = 2;
  const Pair pair(context.get(), {}, limits);
  const ibv_send_wr request = write_request(nullptr, 0, 0);
  for (int i = 0; i < 3; ++i) ASSERT_EQ(pair.a.post(request), 0);
  EXPECT_EQ(next_event(context.get()), IBV_EVENT_CQ_ERR);
  EXPECT_EQ(next_event(context.get()), IBV_EVENT_QP_FATAL);
  EXPECT_EQ(pair.a.state(), IBV_QPS_ERR);
}

TEST(AsyncEvents, DestroyingDropsEventsThatNobodyTook) {
  const Owned<ibv_context> context = open_device();
  ASSERT_EQ(fcntl(context->async_fd, F_SETFL, O_NONBLOCK), 0);
  {
    const Pair pair(context.get());
    const Buffer local(pair.a.pd, 8);
    ibv_sge sge = local.sge();
    ASSERT_EQ(pair.a.post(write_request(&sge, 0, 0)), 0);
    EXPECT_EQ(pair.a.wait().status, IBV_WC_REM_ACCESS_ERR);
    pollfd entry{context->async_fd, POLLIN, 0};
    EXPECT_EQ(poll(&entry, 1, 60'000), 1);
  }
  ibv_async_event event{};
  EXPECT_EQ(ibv_get_async_event(context.get(), &event), -1);
  EXPECT_EQ(errno, EAGAIN);
}

}  // namespace
}  // namespace softverbs::test
