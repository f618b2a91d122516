// What differs when the devices play iWARP.
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

// Before the library reads it.
[[maybe_unused]] const int kEnvironment = setenv("SOFTVERBS_KIND", "iwarp", 1);

class IwarpTest : public testing::Test {
 protected:
  Owned<ibv_context> context = open_device();
  Pair pair{context.get()};
  Buffer local{pair.a.pd, 64};
  Buffer remote{pair.b.pd, 64};
};

TEST_F(IwarpTest, TheDeviceSaysSo) {
  EXPECT_EQ(context->device->transport_type, IBV_TRANSPORT_IWARP);
  EXPECT_EQ(context->device->node_type, IBV_NODE_RNIC);
  ibv_device_attr attr{};
  ASSERT_EQ(ibv_query_device(context.get(), &attr), 0);
  EXPECT_EQ(attr.atomic_cap, IBV_ATOMIC_NONE);
}

TEST_F(IwarpTest, ThereIsNoWriteWithImmediateAndNoAtomic) {
  ibv_sge sge = local.sge();
  ibv_send_wr request = write_request(&sge, remote.address(), remote.region->rkey);
  request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  EXPECT_EQ(pair.a.post(request), EINVAL);
  request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  EXPECT_EQ(pair.a.post(request), EINVAL);
}

TEST_F(IwarpTest, AReadsSinkNeedsRemoteWrite) {
  ibv_sge sge = local.sge();
  ASSERT_EQ(pair.a.post(read_request(&sge, remote.address(), remote.region->rkey)), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_SUCCESS);
  const Buffer sink(pair.a.pd, 64, IBV_ACCESS_LOCAL_WRITE);
  sge = sink.sge();
  ASSERT_EQ(pair.a.post(read_request(&sge, remote.address(), remote.region->rkey)), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_LOC_PROT_ERR);
}

TEST_F(IwarpTest, ARefusedWriteShowsInTheQueuePairOnly) {
  ibv_sge sge = local.sge();
  ibv_send_wr bad = write_request(&sge, remote.address(), remote.region->rkey + 1, 1);
  ibv_send_wr next = write_request(&sge, remote.address(), remote.region->rkey, 2);
  bad.next = &next;
  ASSERT_EQ(pair.a.post(bad), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_SUCCESS);
  const ibv_wc second = pair.a.wait();
  EXPECT_EQ(second.wr_id, 2U);
  EXPECT_EQ(second.status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(pair.a.state(), IBV_QPS_ERR);
  EXPECT_EQ(pair.b.state(), IBV_QPS_ERR);
}

TEST_F(IwarpTest, ARefusedReadShowsInItsStatus) {
  ibv_sge sge = local.sge();
  ASSERT_EQ(pair.a.post(read_request(&sge, remote.address(), remote.region->rkey + 1)), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_REM_ACCESS_ERR);
}

}  // namespace
}  // namespace softverbs::test
