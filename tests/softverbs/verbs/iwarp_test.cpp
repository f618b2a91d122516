// What differs when the devices play iWARP.
#include <gtest/gtest.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <thread>

#include "tests/softverbs/cm/cm_support.h"
#include "tests/softverbs/faults/with_faults.h"
#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

// Before the library reads it.
[[maybe_unused]] const int kEnvironment = setenv("SOFTVERBS_KIND", "iwarp", 1);

int post(const cm_test::IdPtr& id, ibv_send_wr request) {
  ibv_send_wr* bad = nullptr;
  return ibv_post_send(id->qp, &request, &bad);
}

ibv_wc wait(const cm_test::IdPtr& id) {
  ibv_wc completion{};
  while (ibv_poll_cq(id->send_cq, 1, &completion) == 0) std::this_thread::yield();
  return completion;
}

class IwarpTest : public testing::Test {
 protected:
  struct Connected : cm_test::Pair {
    Connected() { connect(); }
  };

  Connected pair;
  Buffer local{pair.active->pd, 64};
  Buffer remote{pair.passive->pd, 64};
};

TEST_F(IwarpTest, TheDeviceSaysSo) {
  ibv_context* const context = pair.active->verbs;
  EXPECT_EQ(context->device->transport_type, IBV_TRANSPORT_IWARP);
  EXPECT_EQ(context->device->node_type, IBV_NODE_RNIC);
  ibv_device_attr attr{};
  ASSERT_EQ(ibv_query_device(context, &attr), 0);
  EXPECT_EQ(attr.atomic_cap, IBV_ATOMIC_NONE);
}

TEST_F(IwarpTest, ThereIsNoWriteWithImmediateAndNoAtomic) {
  ibv_sge sge = local.sge();
  ibv_send_wr request = write_request(&sge, remote.address(), remote.region->rkey);
  request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  EXPECT_EQ(post(pair.active, request), EINVAL);
  request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  EXPECT_EQ(post(pair.active, request), EINVAL);
}

TEST_F(IwarpTest, AReadsSinkNeedsRemoteWrite) {
  ibv_sge sge = local.sge();
  ASSERT_EQ(post(pair.active, read_request(&sge, remote.address(), remote.region->rkey)), 0);
  EXPECT_EQ(wait(pair.active).status, IBV_WC_SUCCESS);
  const Buffer sink(pair.active->pd, 64, IBV_ACCESS_LOCAL_WRITE);
  sge = sink.sge();
  ASSERT_EQ(post(pair.active, read_request(&sge, remote.address(), remote.region->rkey)), 0);
  EXPECT_EQ(wait(pair.active).status, IBV_WC_LOC_PROT_ERR);
}

TEST_F(IwarpTest, ARefusedWriteShowsInTheQueuePairOnly) {
  ibv_sge sge = local.sge();
  ibv_send_wr bad = write_request(&sge, remote.address(), remote.region->rkey + 1, 1);
  ibv_send_wr next = write_request(&sge, remote.address(), remote.region->rkey, 2);
  bad.next = &next;
  ASSERT_EQ(post(pair.active, bad), 0);
  EXPECT_EQ(wait(pair.active).status, IBV_WC_SUCCESS);
  const ibv_wc second = wait(pair.active);
  EXPECT_EQ(second.wr_id, 2U);
  EXPECT_EQ(second.status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(cm_test::state_of(pair.active->qp), IBV_QPS_ERR);
  EXPECT_EQ(cm_test::state_of(pair.passive->qp), IBV_QPS_ERR);
}

TEST_F(IwarpTest, ARefusedReadShowsInItsStatus) {
  ibv_sge sge = local.sge();
  ASSERT_EQ(post(pair.active, read_request(&sge, remote.address(), remote.region->rkey + 1)), 0);
  EXPECT_EQ(wait(pair.active).status, IBV_WC_REM_ACCESS_ERR);
}

TEST_F(IwarpTest, ThePortHasItsMacForAGidAndNoPartition) {
  ibv_context* const context = pair.active->verbs;
  ibv_port_attr port{};
  ASSERT_EQ(ibv_query_port(context, 1, &port), 0);
  EXPECT_EQ(port.gid_tbl_len, 1);
  EXPECT_EQ(port.pkey_tbl_len, 0);
  ibv_gid_entry entry{};
  ASSERT_EQ(ibv_query_gid_ex(context, 1, 0, &entry, 0), 0);
  EXPECT_EQ(entry.gid_type, IBV_GID_TYPE_IB);
  const ibv_gid wanted{{0x02, 0x53, 0x4f, 0, 0, 1}};
  EXPECT_EQ(memcmp(&entry.gid, &wanted, sizeof wanted), 0);
  __be16 key = 0;
  EXPECT_EQ(ibv_query_pkey(context, 1, 0, &key), -1);
}

// As on siw: without a connection of rdma_cm, RTR is accepted and means nothing, and RTS is
// refused.
TEST_F(IwarpTest, NoQueuePairIsConnectedByHand) {
  const Owned<ibv_context> context = open_device();
  const Endpoint a(context.get());
  const Endpoint b(context.get());
  EXPECT_EQ(a.to_init(), 0);
  EXPECT_EQ(a.to_rtr(b.address()), 0);
  EXPECT_EQ(a.state(), IBV_QPS_INIT);
  EXPECT_EQ(a.to_rts(), EINVAL);
  EXPECT_EQ(a.state(), IBV_QPS_INIT);
  EXPECT_EQ(a.post(send_request(nullptr)), EINVAL);
  EXPECT_EQ(a.to_state(IBV_QPS_ERR), 0);
}

struct Unheard : cm_test::Pair {
  Unheard() {
    connect();
    bytes.emplace(active->pd, 8);
    sink.emplace(passive->pd, 8);
    receive(passive);
    receive(active);
  }
  void receive(const cm_test::IdPtr& id) const {
    ibv_sge sge = (id == passive ? sink : bytes)->sge();
    ibv_recv_wr request{};
    request.sg_list = &sge;
    request.num_sge = 1;
    ibv_recv_wr* bad = nullptr;
    ASSERT_EQ(ibv_post_recv(id->qp, &request, &bad), 0);
  }
  [[nodiscard]] int send(const cm_test::IdPtr& id) const {
    ibv_sge sge = (id == passive ? sink : bytes)->sge();
    return post(id, send_request(&sge));
  }

  std::optional<Buffer> bytes;
  std::optional<Buffer> sink;
};

// As on siw, whose passive end may not watch its socket yet.
TEST(IwarpFaults, TheFirstWordMayGoUnnoticedUntilMoreIsSaid) {
  with_faults("unheard:max=1", [] {
    const Unheard unheard;
    ASSERT_EQ(unheard.send(unheard.active), 0);
    const Unheard heard;  // which takes its time
    ASSERT_EQ(heard.send(heard.active), 0);
    EXPECT_EQ(wait(heard.active).status, IBV_WC_SUCCESS);
    ibv_wc completion{};
    EXPECT_EQ(ibv_poll_cq(unheard.active->send_cq, 1, &completion), 0);
    EXPECT_EQ(ibv_poll_cq(unheard.passive->recv_cq, 1, &completion), 0);

    ibv_send_wr nudge{};
    nudge.opcode = IBV_WR_RDMA_WRITE;
    ASSERT_EQ(post(unheard.active, nudge), 0);
    EXPECT_EQ(wait(unheard.active).status, IBV_WC_SUCCESS);
    ASSERT_EQ(ibv_poll_cq(unheard.passive->recv_cq, 1, &completion), 1);
    EXPECT_EQ(completion.status, IBV_WC_SUCCESS);
  });
}

TEST(IwarpFaults, AnAnswerIsNoticed) {
  with_faults("unheard:after=1", [] {
    const Unheard pair;
    ASSERT_EQ(pair.send(pair.active), 0);
    EXPECT_EQ(wait(pair.active).status, IBV_WC_SUCCESS);
    ASSERT_EQ(pair.send(pair.passive), 0);
    EXPECT_EQ(wait(pair.passive).status, IBV_WC_SUCCESS);
  });
}

}  // namespace
}  // namespace softverbs::test
