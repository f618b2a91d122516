#include <gtest/gtest.h>

#include <array>
#include <utility>
#include <vector>

#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

class QueuePairStateTest : public testing::Test {
 protected:
  Owned<ibv_context> context = open_device();
  Endpoint a{context.get()};
  Endpoint b{context.get()};
  Buffer buffer{a.pd, 64};
};

int modify(const Endpoint& end, ibv_qp_attr attr, int mask) {
  return ibv_modify_qp(end.qp.get(), &attr, mask);
}

TEST_F(QueuePairStateTest, EachTransitionNeedsItsAttributes) {
  ibv_qp_attr attr{};
  attr.port_num = 1;
  attr.qp_state = IBV_QPS_INIT;
  EXPECT_EQ(modify(a, attr, IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX), EINVAL);
  EXPECT_EQ(modify(a, attr,
                   IBV_QP_STATE | IBV_QP_PORT | IBV_QP_PKEY_INDEX | IBV_QP_ACCESS_FLAGS |
                       IBV_QP_RETRY_CNT),
            EINVAL);
  EXPECT_EQ(a.to_rtr(b.address()), EINVAL);  // Not from RESET.
  EXPECT_EQ(a.to_init(), 0);
  EXPECT_EQ(a.to_rts(), EINVAL);  // Not from INIT.
  attr.qp_state = IBV_QPS_RTR;
  EXPECT_EQ(modify(a, attr, IBV_QP_STATE), EINVAL);
  EXPECT_EQ(a.to_rtr(b.address()), 0);
  attr.qp_state = IBV_QPS_RTS;
  EXPECT_EQ(modify(a, attr, IBV_QP_STATE), EINVAL);
  EXPECT_EQ(a.to_rts(), 0);
  EXPECT_EQ(a.state(), IBV_QPS_RTS);
  EXPECT_EQ(a.to_state(IBV_QPS_RESET), 0);
  EXPECT_EQ(a.state(), IBV_QPS_RESET);
}

constexpr int kInit = IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS;
constexpr int kRtr = IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                     IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER;
constexpr int kRts = IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
                     IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC;
constexpr std::array kEveryAttribute{IBV_QP_CUR_STATE,
                                     IBV_QP_EN_SQD_ASYNC_NOTIFY,
                                     IBV_QP_ACCESS_FLAGS,
                                     IBV_QP_PKEY_INDEX,
                                     IBV_QP_PORT,
                                     IBV_QP_QKEY,
                                     IBV_QP_AV,
                                     IBV_QP_PATH_MTU,
                                     IBV_QP_TIMEOUT,
                                     IBV_QP_RETRY_CNT,
                                     IBV_QP_RNR_RETRY,
                                     IBV_QP_RQ_PSN,
                                     IBV_QP_MAX_QP_RD_ATOMIC,
                                     IBV_QP_ALT_PATH,
                                     IBV_QP_MIN_RNR_TIMER,
                                     IBV_QP_SQ_PSN,
                                     IBV_QP_MAX_DEST_RD_ATOMIC,
                                     IBV_QP_PATH_MIG_STATE,
                                     IBV_QP_CAP,
                                     IBV_QP_DEST_QPN,
                                     IBV_QP_RATE_LIMIT};

/// Good values for everything.
ibv_qp_attr good_attributes(const Endpoint& end, const Endpoint& peer, ibv_qp_state to) {
  ibv_qp_attr attr{};
  attr.qp_state = to;
  attr.cur_qp_state = end.state();
  attr.port_num = 1;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = peer.qp->qp_num;
  attr.ah_attr.is_global = 1;
  attr.ah_attr.port_num = 1;
  ibv_query_gid(end.context, 1, 0, &attr.ah_attr.grh.dgid);
  attr.timeout = 14;
  attr.max_rd_atomic = attr.max_dest_rd_atomic = 1;
  return attr;
}

// The table of ibv_modify_qp(3), attribute by attribute: what is missing, and what is too much.
TEST_F(QueuePairStateTest, EachAttributeIsNeededAllowedOrRefused) {
  const struct {
    ibv_qp_state to;
    int required;
    int optional;  // Those that need nothing that the device does not have.
  } steps[] = {
      {IBV_QPS_INIT, kInit, 0},
      {IBV_QPS_INIT, IBV_QP_STATE, IBV_QP_PKEY_INDEX | IBV_QP_PORT | IBV_QP_ACCESS_FLAGS},
      {IBV_QPS_RTR, kRtr, IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX},
      {IBV_QPS_RTS, kRts, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER},
      {IBV_QPS_RTS, IBV_QP_STATE, IBV_QP_CUR_STATE | IBV_QP_ACCESS_FLAGS | IBV_QP_MIN_RNR_TIMER},
      {IBV_QPS_SQD, IBV_QP_STATE, IBV_QP_EN_SQD_ASYNC_NOTIFY},
      {IBV_QPS_SQD, IBV_QP_STATE,
       IBV_QP_PORT | IBV_QP_AV | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT | IBV_QP_RNR_RETRY |
           IBV_QP_MAX_QP_RD_ATOMIC | IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_CUR_STATE |
           IBV_QP_ACCESS_FLAGS | IBV_QP_PKEY_INDEX | IBV_QP_MIN_RNR_TIMER},
      {IBV_QPS_ERR, IBV_QP_STATE, 0},
      {IBV_QPS_RESET, IBV_QP_STATE, 0},
  };
  for (const auto& step : steps) {
    const ibv_qp_state from = a.state();
    const ibv_qp_attr attr = good_attributes(a, b, step.to);
    for (const int bit : kEveryAttribute) {
      if (step.required & bit) {
        EXPECT_EQ(modify(a, attr, step.required & ~bit), EINVAL) << from << " to " << step.to;
      } else if (!(step.optional & bit)) {
        EXPECT_EQ(modify(a, attr, step.required | bit), EINVAL)
            << from << " to " << step.to << " " << bit;
      }
      ASSERT_EQ(a.state(), from);
    }
    EXPECT_EQ(modify(a, attr, step.required | step.optional), 0) << from << " to " << step.to;
    ASSERT_EQ(a.state(), step.to);
  }
}

TEST_F(QueuePairStateTest, NoStateIsSkippedOrGoneBackTo) {
  const auto refused = [&](std::initializer_list<std::pair<ibv_qp_state, int>> moves) {
    for (const auto& [to, mask] : moves) {
      EXPECT_EQ(modify(a, good_attributes(a, b, to), mask), EINVAL) << a.state() << " to " << to;
    }
  };
  refused({{IBV_QPS_RTR, kRtr}, {IBV_QPS_RTS, kRts}, {IBV_QPS_SQD, IBV_QP_STATE}});
  ASSERT_EQ(a.to_init(), 0);
  refused({{IBV_QPS_RTS, kRts}, {IBV_QPS_SQD, IBV_QP_STATE}});
  ASSERT_EQ(a.to_rtr(b.address()), 0);
  refused({{IBV_QPS_INIT, kInit}, {IBV_QPS_RTR, kRtr}, {IBV_QPS_SQD, IBV_QP_STATE}});
  ASSERT_EQ(a.to_rts(), 0);
  refused({{IBV_QPS_INIT, kInit}, {IBV_QPS_RTR, kRtr}});
  ASSERT_EQ(a.to_state(IBV_QPS_ERR), 0);
  refused({{IBV_QPS_INIT, kInit}, {IBV_QPS_RTR, kRtr}, {IBV_QPS_RTS, kRts}});
  ibv_qp_attr attr = good_attributes(a, b, IBV_QPS_RESET);
  attr.cur_qp_state = IBV_QPS_RTS;
  EXPECT_EQ(modify(a, attr, IBV_QP_STATE | IBV_QP_CUR_STATE), EINVAL) << "it is another";
}

TEST_F(QueuePairStateTest, ValuesAreThoseOfTheDevice) {
  ibv_device_attr device{};
  ASSERT_EQ(ibv_query_device(context.get(), &device), 0);
  using Change = void (*)(ibv_qp_attr&);
  const struct {
    ibv_qp_state to;
    int mask;
    std::vector<Change> changes;
  } steps[] = {
      {IBV_QPS_INIT,
       kInit,
       {[](ibv_qp_attr& attr) { attr.pkey_index = 1; },
        [](ibv_qp_attr& attr) { attr.port_num = 0; }, [](ibv_qp_attr& attr) { attr.port_num = 2; },
        [](ibv_qp_attr& attr) { attr.qp_access_flags = IBV_ACCESS_ON_DEMAND; }}},
      {IBV_QPS_RTR,
       kRtr,
       {[](ibv_qp_attr& attr) { attr.ah_attr.is_global = 0; },
        [](ibv_qp_attr& attr) {
          attr.ah_attr.is_global = 0;
          attr.ah_attr.dlid = 1;
        },
        [](ibv_qp_attr& attr) { attr.ah_attr.port_num = 2; },
        [](ibv_qp_attr& attr) { attr.ah_attr.grh.sgid_index = 254; },  // An empty place.
        [](ibv_qp_attr& attr) { attr.ah_attr.grh.sgid_index = 255; },  // None.
        [](ibv_qp_attr& attr) {
          attr.ah_attr.grh.dgid = {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 127, 0, 0, 1}};
        },
        [](ibv_qp_attr& attr) { attr.path_mtu = static_cast<ibv_mtu>(0); },
        [](ibv_qp_attr& attr) { attr.path_mtu = static_cast<ibv_mtu>(IBV_MTU_4096 + 1); },
        [](ibv_qp_attr& attr) { attr.dest_qp_num = 1U << 24; },
        [](ibv_qp_attr& attr) { attr.max_dest_rd_atomic = 17; },
        [](ibv_qp_attr& attr) { attr.min_rnr_timer = 32; }}},
      {IBV_QPS_RTS,
       kRts,
       {[](ibv_qp_attr& attr) { attr.max_rd_atomic = 17; },
        [](ibv_qp_attr& attr) { attr.timeout = 32; }, [](ibv_qp_attr& attr) { attr.retry_cnt = 8; },
        [](ibv_qp_attr& attr) { attr.rnr_retry = 8; }}},
  };
  ASSERT_EQ(device.max_qp_rd_atom, 16);
  ASSERT_EQ(device.max_qp_init_rd_atom, 16);
  for (const auto& step : steps) {
    for (size_t i = 0; i < step.changes.size(); ++i) {
      ibv_qp_attr attr = good_attributes(a, b, step.to);
      step.changes[i](attr);
      EXPECT_EQ(modify(a, attr, step.mask), EINVAL) << "to " << step.to << ", change " << i;
    }
    ASSERT_EQ(modify(a, good_attributes(a, b, step.to), step.mask), 0);
  }
}

// An address of the other family is reached by no route; a link-local one by every port.
TEST_F(QueuePairStateTest, APathStaysInItsFamily) {
  ASSERT_EQ(a.to_init(), 0);
  constexpr int kMapped = 3;
  Connection connection;
  EXPECT_EQ(a.to_rtr(b.address(nullptr, kMapped), connection), EINVAL);
  connection.sgid_index = kMapped;
  EXPECT_EQ(a.to_rtr(b.address(nullptr, kMapped), connection), 0);
  ASSERT_EQ(b.to_init(), 0);
  EXPECT_EQ(b.to_rtr(a.address(nullptr, 1), connection), 0);
}

TEST_F(QueuePairStateTest, APathNeedsAGidOfThisHost) {
  ASSERT_EQ(a.to_init(), 0);
  Address peer = b.address();
  peer.gid.raw[15] ^= 0x55;
  EXPECT_EQ(a.to_rtr(peer), EHOSTUNREACH);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_RTR;
  attr.path_mtu = IBV_MTU_1024;
  attr.dest_qp_num = b.qp->qp_num;
  attr.ah_attr.port_num = 1;
  attr.ah_attr.dlid = 1;  // As on InfiniBand, without a GID.
  EXPECT_EQ(modify(a, attr,
                   IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU | IBV_QP_DEST_QPN | IBV_QP_RQ_PSN |
                       IBV_QP_MAX_DEST_RD_ATOMIC | IBV_QP_MIN_RNR_TIMER),
            EINVAL);
}

TEST_F(QueuePairStateTest, PostingFollowsTheState) {
  ibv_sge sge = buffer.sge();
  const ibv_send_wr send = send_request(&sge);
  EXPECT_EQ(a.post(send), EINVAL);
  EXPECT_EQ(a.receive(sge), EINVAL);
  ASSERT_EQ(a.to_init(), 0);
  EXPECT_EQ(a.post(send), EINVAL);
  EXPECT_EQ(a.receive(sge, 1), 0);
  ASSERT_EQ(a.to_rtr(b.address()), 0);
  EXPECT_EQ(a.post(send), EINVAL);
  EXPECT_EQ(a.receive(sge, 2), 0);
  ASSERT_EQ(a.to_state(IBV_QPS_ERR), 0);
  EXPECT_EQ(a.post(send), 0);
  EXPECT_EQ(a.receive(sge, 3), 0);
  for (const uint64_t id : {1, 2, 0, 3}) {
    const ibv_wc completion = a.wait();
    EXPECT_EQ(completion.wr_id, id);
    EXPECT_EQ(completion.status, IBV_WC_WR_FLUSH_ERR);
  }
}

TEST_F(QueuePairStateTest, ResetForgetsRequestsAndCompletions) {
  ASSERT_EQ(a.to_init(), 0);
  ASSERT_EQ(a.receive(buffer.sge()), 0);
  ASSERT_EQ(a.to_state(IBV_QPS_ERR), 0);
  ASSERT_EQ(a.to_state(IBV_QPS_RESET), 0);
  ibv_wc completion{};
  EXPECT_FALSE(a.poll(completion));
  ASSERT_EQ(a.to_init(), 0);
  const Limits limits;
  for (uint32_t i = 0; i < limits.receive_wr; ++i) EXPECT_EQ(a.receive(buffer.sge()), 0);
  EXPECT_EQ(a.receive(buffer.sge()), ENOMEM);
}

TEST_F(QueuePairStateTest, QueryTellsWhatWasSet) {
  a.connect(b.address());
  ibv_qp_attr attr{};
  ibv_qp_init_attr init{};
  ASSERT_EQ(ibv_query_qp(a.qp.get(), &attr, IBV_QP_STATE, &init), 0);
  EXPECT_EQ(attr.qp_state, IBV_QPS_RTS);
  EXPECT_EQ(attr.dest_qp_num, b.qp->qp_num);
  EXPECT_EQ(attr.sq_psn, a.psn);
  EXPECT_EQ(attr.path_mtu, IBV_MTU_1024);
  EXPECT_EQ(attr.cap.max_send_wr, 16U);
  EXPECT_EQ(init.cap.max_inline_data, 64U);
  EXPECT_EQ(init.send_cq, a.cq.get());
}

TEST_F(QueuePairStateTest, LimitsAreTheDevices) {
  ibv_device_attr device{};
  ASSERT_EQ(ibv_query_device(context.get(), &device), 0);
  ibv_qp_init_attr init{};
  init.send_cq = init.recv_cq = a.cq.get();
  init.qp_type = IBV_QPT_RC;
  init.cap.max_send_wr = static_cast<uint32_t>(device.max_qp_wr) + 1;
  EXPECT_EQ(ibv_create_qp(a.pd, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);
  init.cap.max_send_wr = 1;
  init.cap.max_send_sge = static_cast<uint32_t>(device.max_sge) + 1;
  EXPECT_EQ(ibv_create_qp(a.pd, &init), nullptr);
  EXPECT_EQ(errno, EINVAL);
  init.cap.max_send_sge = 1;
  init.qp_type = IBV_QPT_UD;
  EXPECT_EQ(ibv_create_qp(a.pd, &init), nullptr);
  EXPECT_EQ(errno, EOPNOTSUPP);
  init.qp_type = IBV_QPT_RC;
  EXPECT_TRUE(Owned<ibv_qp>(ibv_create_qp(a.pd, &init)));
}

TEST_F(QueuePairStateTest, WhatItUsesCannotBeDestroyed) {
  EXPECT_EQ(ibv_destroy_cq(a.cq.get()), EBUSY);
  EXPECT_EQ(ibv_destroy_comp_channel(a.channel.get()), EBUSY);
  buffer.region.reset();
  EXPECT_EQ(ibv_dealloc_pd(a.pd), EBUSY);
}

TEST_F(QueuePairStateTest, NumbersAre24BitsAndNotReusedSoon) {
  uint32_t last = a.qp->qp_num;
  for (int i = 0; i < 100; ++i) {
    const Endpoint other(context.get());
    EXPECT_NE(other.qp->qp_num, last);
    EXPECT_LT(other.qp->qp_num, 1U << 24);
    EXPECT_GT(other.qp->qp_num, 1U);
    last = other.qp->qp_num;
  }
}

TEST_F(QueuePairStateTest, ADrainedSendQueueWaits) {
  a.connect(b.address());
  b.connect(a.address());
  const Buffer remote(b.pd, 64);
  ibv_qp_attr attr{};
  attr.qp_state = IBV_QPS_SQD;
  attr.en_sqd_async_notify = 1;
  ASSERT_EQ(modify(a, attr, IBV_QP_STATE | IBV_QP_EN_SQD_ASYNC_NOTIFY), 0);
  EXPECT_EQ(next_event(context.get()), IBV_EVENT_SQ_DRAINED);
  ibv_sge sge = buffer.sge();
  ASSERT_EQ(a.post(write_request(&sge, remote.address(), remote.region->rkey)), 0);
  ibv_wc completion{};
  EXPECT_FALSE(a.poll(completion));
  ASSERT_EQ(a.to_state(IBV_QPS_RTS), 0);
  EXPECT_EQ(a.wait().status, IBV_WC_SUCCESS);
}

TEST_F(QueuePairStateTest, AQueuePairMayBeItsOwnPeer) {
  a.connect(a.address());
  const Buffer target(a.pd, 64);
  buffer.memory[5] = 'x';
  ibv_sge sge = buffer.sge();
  ASSERT_EQ(a.post(write_request(&sge, target.address(), target.region->rkey)), 0);
  EXPECT_EQ(a.wait().status, IBV_WC_SUCCESS);
  EXPECT_EQ(target.memory, buffer.memory);
  EXPECT_EQ(a.to_state(IBV_QPS_ERR), 0);
}

}  // namespace
}  // namespace softverbs::test
