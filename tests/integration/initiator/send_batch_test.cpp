// Work requests that are posted in one go, and what their completions tell of.
#include "initiator/send_batch.h"

#include <gtest/gtest.h>

#include <utility>
#include <vector>

#include "common/verbs/context.h"
#include "common/verbs/memory_region.h"
#include "common/verbs/registered_buffer.h"
#include "tests/integration/verbs/connected_pair.h"

namespace rdmablk::testing {
namespace {

using Numbers = std::vector<std::uint64_t>;

constexpr std::size_t kSize = 4096;
constexpr unsigned kRemote =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;

class SendBatchTest : public ::testing::Test {
 protected:
  static constexpr unsigned kReceives = 16;

  SendBatchTest() {
    for (unsigned i = 0; i < kReceives; ++i) post_receive();
  }

  void post_receive() {
    ibv_sge segment{reinterpret_cast<std::uintptr_t>(to_.data()), kSize, to_.lkey()};
    ibv_recv_wr receive{};
    receive.sg_list = &segment;
    receive.num_sge = 1;
    ASSERT_EQ(pair_.target.qp().post_receive(receive), 0);
  }

  ibv_send_wr& add(ibv_wr_opcode opcode, std::uint64_t number) {
    ibv_send_wr& work =
        batch_.add(opcode, {reinterpret_cast<std::uintptr_t>(from_.data()), 512, from_.lkey()});
    work.wr_id = number;
    work.wr.rdma.remote_addr = reinterpret_cast<std::uintptr_t>(to_.data());
    work.wr.rdma.rkey = to_.rkey();
    return work;
  }

  int post() { return batch_.post_quietly(pair_.initiator.qp(), posted_); }

  /// What the next completion tells of.
  Numbers told() {
    const ibv_wc completion = pair_.wait(pair_.initiator);
    EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
    Numbers numbers;
    EXPECT_TRUE(posted_.complete(completion.wr_id,
                                 [&](std::uint64_t number) { numbers.push_back(number); }));
    return numbers;
  }

  ConnectedPair pair_{16, kReceives};
  verbs::RegisteredBuffer from_{*pair_.initiator.pd, kSize,
                                verbs::local_access(pair_.initiator.pd->context())};
  verbs::RegisteredBuffer to_{*pair_.target.pd, kSize, kRemote};
  verbs::PostedSends posted_{16};
  initiator::SendBatch batch_;
};

TEST_F(SendBatchTest, OneCompletionTellsOfAllCommandsAndTheirData) {
  initiator::SendBatch commands;
  for (const std::uint64_t number : {1U, 2U, 3U}) add(IBV_WR_RDMA_WRITE, number).send_flags = 0;
  std::swap(batch_, commands);
  for (const std::uint64_t number : {4U, 5U, 6U}) add(IBV_WR_SEND, number);
  std::swap(batch_, commands);
  batch_.append(commands);
  EXPECT_EQ(commands.size(), 0U);
  ASSERT_EQ(post(), 0);
  EXPECT_EQ(told(), (Numbers{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(posted_.room(), 16U);
}

/// It is an answer.
TEST_F(SendBatchTest, EachReadIsToldOf) {
  if (pair_.is_iwarp()) GTEST_SKIP() << "completions overtake READs on iWARP";
  add(IBV_WR_SEND, 1);
  add(IBV_WR_RDMA_READ, 2);
  add(IBV_WR_RDMA_READ, 3);
  ASSERT_EQ(post(), 0);
  EXPECT_EQ(told(), (Numbers{1, 2}));
  EXPECT_EQ(told(), (Numbers{3}));
}

/// More than the send queue holds, over and over: the device has room again for what was told of.
TEST_F(SendBatchTest, WhatWasToldOfHasItsPlaceFree) {
  for (int round = 0; round < 20; ++round) {
    for (std::uint64_t number = 1; number <= kReceives; ++number) add(IBV_WR_SEND, number);
    ASSERT_EQ(post(), 0) << round;
    EXPECT_EQ(told().size(), 16U);
    for (unsigned i = 0; i < kReceives; ++i) {
      EXPECT_EQ(pair_.wait(pair_.target).status, IBV_WC_SUCCESS);
      post_receive();
    }
  }
}

/// What a device refuses has a completion, signalled or not.
TEST_F(SendBatchTest, AnUnsignalledRequestThatFailsIsNamed) {
  if (pair_.is_iwarp()) GTEST_SKIP() << "iWARP says nothing of a WRITE that is refused";
  add(IBV_WR_RDMA_WRITE, 1).send_flags = 0;
  ibv_send_wr& wrong = add(IBV_WR_RDMA_WRITE, 2);
  wrong.send_flags = 0;
  wrong.wr.rdma.rkey = ~to_.rkey();
  add(IBV_WR_SEND, 3);
  ASSERT_EQ(post(), 0);
  const ibv_wc completion = pair_.wait(pair_.initiator);
  EXPECT_EQ(completion.status, IBV_WC_REM_ACCESS_ERR);
  EXPECT_EQ(completion.wr_id, 2U);
}

}  // namespace
}  // namespace rdmablk::testing
