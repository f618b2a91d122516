// READ and WRITE between two queue pairs of one process: data, checks, order and errors.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>

#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

constexpr size_t kSize = 8192;

class RdmaTest : public testing::Test {
 protected:
  void SetUp() override { std::iota(local.memory.begin(), local.memory.end(), char{1}); }

  /// Posts a WRITE of the first 64 bytes, or a READ, and returns its completion's status.
  ibv_wc_status write(uint64_t remote_address, uint32_t rkey, size_t length = 64) {
    ibv_sge sge = local.sge(0, length);
    EXPECT_EQ(pair.a.post(write_request(&sge, remote_address, rkey)), 0);
    return pair.a.wait().status;
  }
  ibv_wc_status read(uint64_t remote_address, uint32_t rkey, size_t length = 64) {
    ibv_sge sge = local.sge(0, length);
    EXPECT_EQ(pair.a.post(read_request(&sge, remote_address, rkey)), 0);
    return pair.a.wait().status;
  }
  /// Whether the responder noticed: queue pair in error, event, memory untouched.
  void expect_refused(ibv_event_type event) {
    EXPECT_EQ(next_event(context.get()), event);
    EXPECT_EQ(pair.a.state(), IBV_QPS_ERR);
    EXPECT_EQ(pair.b.state(), IBV_QPS_ERR);
    EXPECT_EQ(remote.memory, std::vector<char>(kSize));
  }

  Owned<ibv_context> context = open_device();
  Pair pair{context.get()};
  Buffer local{pair.a.pd, kSize};
  Buffer remote{pair.b.pd, kSize};
};

TEST_F(RdmaTest, WriteAndReadMoveData) {
  ibv_sge out = local.sge();
  ASSERT_EQ(pair.a.post(write_request(&out, remote.address(), remote.region->rkey, 7)), 0);
  const ibv_wc written = pair.a.wait();
  EXPECT_EQ(written.status, IBV_WC_SUCCESS);
  EXPECT_EQ(written.wr_id, 7U);
  EXPECT_EQ(written.opcode, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(written.qp_num, pair.a.qp->qp_num);
  EXPECT_EQ(remote.memory, local.memory);

  std::fill(local.memory.begin(), local.memory.end(), char{0});
  ibv_sge in[2] = {local.sge(4096, 10), local.sge(0, 100)};
  ibv_send_wr request = read_request(in, remote.address() + 5, remote.region->rkey, 8);
  request.num_sge = 2;
  ASSERT_EQ(pair.a.post(request), 0);
  const ibv_wc fetched = pair.a.wait();
  EXPECT_EQ(fetched.status, IBV_WC_SUCCESS);
  EXPECT_EQ(fetched.opcode, IBV_WC_RDMA_READ);
  EXPECT_EQ(fetched.byte_len, 110U);
  EXPECT_EQ(memcmp(&local.memory[4096], &remote.memory[5], 10), 0);
  EXPECT_EQ(memcmp(&local.memory[0], &remote.memory[15], 100), 0);
}

TEST_F(RdmaTest, RemoteAddressesFollowTheIova) {
  std::vector<char> memory(100);
  const Owned<ibv_mr> region(
      ibv_reg_mr_iova2(pair.b.pd, memory.data(), memory.size(), 0x1000, kAllAccess));
  ASSERT_TRUE(region);
  EXPECT_EQ(write(0x1000 + 36, region->rkey), IBV_WC_SUCCESS);
  EXPECT_EQ(memcmp(&memory[36], local.memory.data(), 64), 0);
  EXPECT_EQ(write(0x1000 + 37, region->rkey), IBV_WC_REM_ACCESS_ERR);
}

TEST_F(RdmaTest, NothingIsCheckedForNoBytes) {
  ibv_send_wr request = write_request(nullptr, 1, 2);
  ASSERT_EQ(pair.a.post(request), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_SUCCESS);
}

TEST_F(RdmaTest, InlineDataMayChangeAfterPosting) {
  char data[16] = "inline";
  ibv_sge sge{reinterpret_cast<uint64_t>(data), sizeof data, 0};
  ibv_send_wr request = write_request(&sge, remote.address(), remote.region->rkey);
  request.send_flags |= IBV_SEND_INLINE;
  ASSERT_EQ(pair.a.post(request), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_SUCCESS);
  EXPECT_STREQ(remote.memory.data(), "inline");
  request.opcode = IBV_WR_RDMA_READ;
  EXPECT_EQ(pair.a.post(request), EINVAL);
  sge.length = 65;
  request.opcode = IBV_WR_RDMA_WRITE;
  EXPECT_EQ(pair.a.post(request), EINVAL);
}

TEST_F(RdmaTest, AWrongKeyIsRefused) {
  EXPECT_EQ(write(remote.address(), remote.region->rkey + 1), IBV_WC_REM_ACCESS_ERR);
  expect_refused(IBV_EVENT_QP_ACCESS_ERR);
}

TEST_F(RdmaTest, TheEndOfTheRegionIsRespected) {
  EXPECT_EQ(write(remote.address() + kSize - 64, remote.region->rkey), IBV_WC_SUCCESS);
  std::fill(remote.memory.begin(), remote.memory.end(), char{0});
  EXPECT_EQ(write(remote.address() + kSize - 63, remote.region->rkey), IBV_WC_REM_ACCESS_ERR);
  expect_refused(IBV_EVENT_QP_ACCESS_ERR);
}

TEST_F(RdmaTest, TheStartOfTheRegionIsRespected) {
  EXPECT_EQ(write(remote.address() - 1, remote.region->rkey), IBV_WC_REM_ACCESS_ERR);
  expect_refused(IBV_EVENT_QP_ACCESS_ERR);
}

TEST_F(RdmaTest, ARangeThatWrapsAroundIsRefused) {
  EXPECT_EQ(write(UINT64_MAX - 10, remote.region->rkey), IBV_WC_REM_ACCESS_ERR);
  expect_refused(IBV_EVENT_QP_ACCESS_ERR);
}

TEST_F(RdmaTest, TheRegionsAccessIsRespected) {
  const Buffer readable(pair.b.pd, 64, IBV_ACCESS_REMOTE_READ);
  EXPECT_EQ(read(readable.address(), readable.region->rkey), IBV_WC_SUCCESS);
  EXPECT_EQ(write(readable.address(), readable.region->rkey), IBV_WC_REM_ACCESS_ERR);
  expect_refused(IBV_EVENT_QP_ACCESS_ERR);
}

TEST_F(RdmaTest, ARegionWithoutReadAccessIsNotRead) {
  const Buffer writable(pair.b.pd, 64, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  EXPECT_EQ(write(writable.address(), writable.region->rkey), IBV_WC_SUCCESS);
  EXPECT_EQ(read(writable.address(), writable.region->rkey), IBV_WC_REM_ACCESS_ERR);
  expect_refused(IBV_EVENT_QP_ACCESS_ERR);
}

TEST_F(RdmaTest, ARegionOfAnotherProtectionDomainIsRefused) {
  const Owned<ibv_pd> other(ibv_alloc_pd(context.get()));
  const Buffer foreign(other.get(), 64);
  EXPECT_EQ(write(foreign.address(), foreign.region->rkey), IBV_WC_REM_ACCESS_ERR);
  expect_refused(IBV_EVENT_QP_ACCESS_ERR);
}

TEST_F(RdmaTest, ADeregisteredRegionIsRefused) {
  const uint32_t rkey = remote.region->rkey;
  remote.region.reset();
  EXPECT_EQ(write(remote.address(), rkey), IBV_WC_REM_ACCESS_ERR);
  expect_refused(IBV_EVENT_QP_ACCESS_ERR);
}

TEST_F(RdmaTest, LocalKeysAreChecked) {
  ibv_sge sge = local.sge(0, 64);
  sge.lkey ^= 1;
  ASSERT_EQ(pair.a.post(write_request(&sge, remote.address(), remote.region->rkey)), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(pair.a.state(), IBV_QPS_ERR);
  EXPECT_EQ(pair.b.state(), IBV_QPS_RTS);  // The responder never heard of it.
}

TEST_F(RdmaTest, LocalBoundsAreChecked) {
  ibv_sge sge = local.sge(kSize - 63, 64);
  ASSERT_EQ(pair.a.post(write_request(&sge, remote.address(), remote.region->rkey)), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_LOC_PROT_ERR);
}

TEST_F(RdmaTest, LocalProtectionDomainsAreChecked) {
  ibv_sge sge = remote.sge(0, 64);
  ASSERT_EQ(pair.a.post(write_request(&sge, remote.address(), remote.region->rkey)), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_LOC_PROT_ERR);
}

TEST_F(RdmaTest, AReadNeedsLocalWriteAccess) {
  const Buffer constant(pair.a.pd, 64, IBV_ACCESS_REMOTE_READ);
  ibv_sge sge = constant.sge();
  ASSERT_EQ(pair.a.post(write_request(&sge, remote.address(), remote.region->rkey)), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_SUCCESS);
  ASSERT_EQ(pair.a.post(read_request(&sge, remote.address(), remote.region->rkey)), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_LOC_PROT_ERR);
}

TEST_F(RdmaTest, AfterAnErrorEverythingIsFlushed) {
  ASSERT_EQ(pair.b.receive(remote.sge(), 99), 0);
  ibv_sge sge = local.sge(0, 64);
  ibv_send_wr bad = write_request(&sge, remote.address(), 0xbad, 1);
  ibv_send_wr next = write_request(&sge, remote.address(), remote.region->rkey, 2);
  bad.next = &next;
  bad.send_flags = next.send_flags = 0;  // Unsignalled ones complete too when they fail.
  ASSERT_EQ(pair.a.post(bad), 0);
  const ibv_wc first = pair.a.wait();
  EXPECT_EQ(first.wr_id, 1U);
  EXPECT_EQ(first.status, IBV_WC_REM_ACCESS_ERR);
  const ibv_wc second = pair.a.wait();
  EXPECT_EQ(second.wr_id, 2U);
  EXPECT_EQ(second.status, IBV_WC_WR_FLUSH_ERR);
  const ibv_wc flushed = pair.b.wait();
  EXPECT_EQ(flushed.wr_id, 99U);
  EXPECT_EQ(flushed.status, IBV_WC_WR_FLUSH_ERR);
  // What is posted to a queue pair in error is flushed.
  ASSERT_EQ(pair.a.post(write_request(&sge, remote.address(), remote.region->rkey, 3)), 0);
  const ibv_wc third = pair.a.wait();
  EXPECT_EQ(third.wr_id, 3U);
  EXPECT_EQ(third.status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(remote.memory, std::vector<char>(kSize));
}

TEST_F(RdmaTest, APlaceIsFreeWhenALaterCompletionWasPolled) {
  ibv_sge sge = local.sge(0, 64);
  ibv_send_wr request = write_request(&sge, remote.address(), remote.region->rkey);
  const Limits limits;
  request.send_flags = 0;
  for (uint32_t i = 1; i < limits.send_wr; ++i) ASSERT_EQ(pair.a.post(request), 0);
  request.send_flags = IBV_SEND_SIGNALED;
  ASSERT_EQ(pair.a.post(request), 0);
  EXPECT_EQ(pair.a.post(request), ENOMEM);  // Though all have completed.
  EXPECT_EQ(pair.a.wait().status, IBV_WC_SUCCESS);
  for (uint32_t i = 0; i < limits.send_wr; ++i) ASSERT_EQ(pair.a.post(request), 0);
  EXPECT_EQ(pair.a.post(request), ENOMEM);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_SUCCESS);
  EXPECT_EQ(pair.a.post(request), 0);
}

TEST_F(RdmaTest, TheFirstRequestThatIsNotPostedIsNamed) {
  ibv_sge sge = local.sge(0, 64);
  ibv_send_wr good = write_request(&sge, remote.address(), remote.region->rkey, 1);
  ibv_send_wr bad = good;
  good.next = &bad;
  bad.num_sge = 5;
  ibv_send_wr* where = nullptr;
  EXPECT_EQ(ibv_post_send(pair.a.qp.get(), &good, &where), EINVAL);
  EXPECT_EQ(where, &bad);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_SUCCESS);
}

TEST(RdmaAccess, TheQueuePairsAccessIsRespected) {
  for (const bool reads : {false, true}) {
    const Owned<ibv_context> context = open_device();
    Connection connection;
    connection.access = reads ? IBV_ACCESS_REMOTE_WRITE : IBV_ACCESS_REMOTE_READ;
    const Pair pair(context.get(), connection);
    const Buffer local(pair.a.pd, 64);
    const Buffer remote(pair.b.pd, 64);
    ibv_sge sge = local.sge();
    ibv_send_wr allowed = write_request(&sge, remote.address(), remote.region->rkey);
    ibv_send_wr refused = read_request(&sge, remote.address(), remote.region->rkey);
    if (!reads) std::swap(allowed, refused);
    ASSERT_EQ(pair.a.post(allowed), 0);
    EXPECT_EQ(pair.a.wait().status, IBV_WC_SUCCESS);
    ASSERT_EQ(pair.a.post(refused), 0);
    EXPECT_EQ(pair.a.wait().status, IBV_WC_REM_INV_REQ_ERR);
    EXPECT_EQ(next_event(context.get()), IBV_EVENT_QP_REQ_ERR);
    EXPECT_EQ(pair.b.state(), IBV_QPS_ERR);
  }
}

TEST(RdmaAccess, NumbersThatDoNotMatchDoNotConnect) {
  const Owned<ibv_context> context = open_device();
  const Endpoint a(context.get());
  const Endpoint b(context.get());
  Connection connection;
  connection.timeout = 1;
  Address wrong = a.address();
  wrong.psn ^= 1;
  a.connect(b.address(), connection);
  b.connect(wrong, connection);
  const Buffer local(a.pd, 64);
  const Buffer remote(b.pd, 64);
  ibv_sge sge = local.sge();
  ASSERT_EQ(a.post(write_request(&sge, remote.address(), remote.region->rkey)), 0);
  EXPECT_EQ(a.wait().status, IBV_WC_RETRY_EXC_ERR);
}

TEST(RdmaAccess, APeerThatIsNotReadyYetIsWaitedFor) {
  const Owned<ibv_context> context = open_device();
  const Endpoint a(context.get());
  const Endpoint b(context.get());
  Connection patient;
  patient.timeout = 20;
  ASSERT_EQ(b.to_init(), 0);
  a.connect(b.address(), patient);
  const Buffer local(a.pd, 64);
  const Buffer remote(b.pd, 64);
  ibv_sge sge = local.sge();
  ASSERT_EQ(a.post(write_request(&sge, remote.address(), remote.region->rkey)), 0);
  ibv_wc completion{};
  EXPECT_FALSE(a.poll(completion));
  ASSERT_EQ(b.to_rtr(a.address()), 0);
  EXPECT_EQ(a.wait().status, IBV_WC_SUCCESS);
}

}  // namespace
}  // namespace softverbs::test
