// SEND, RECV and WRITE with immediate between two queue pairs of one process.
#include <arpa/inet.h>
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <thread>

#include "tests/softverbs/verbs/endpoint.h"

namespace softverbs::test {
namespace {

constexpr size_t kSize = 300'000;  // Several messages between processes.

class SendTest : public testing::Test {
 protected:
  void SetUp() override { std::iota(out.memory.begin(), out.memory.end(), char{1}); }

  int send(size_t length, uint64_t id = 0) {
    ibv_sge sge = out.sge(0, length);
    return pair.a.post(send_request(&sge, id));
  }

  Owned<ibv_context> context = open_device();
  Pair pair{context.get()};
  Buffer out{pair.a.pd, kSize};
  Buffer in{pair.b.pd, kSize};
};

TEST_F(SendTest, AMessageArrives) {
  ASSERT_EQ(pair.b.receive({in.sge(10, 5), in.sge(100, 50)}, 4), 0);
  ASSERT_EQ(send(20, 3), 0);
  const ibv_wc received = pair.b.wait();
  EXPECT_EQ(received.status, IBV_WC_SUCCESS);
  EXPECT_EQ(received.opcode, IBV_WC_RECV);
  EXPECT_EQ(received.wr_id, 4U);
  EXPECT_EQ(received.byte_len, 20U);
  EXPECT_EQ(received.qp_num, pair.b.qp->qp_num);
  EXPECT_EQ(received.src_qp, pair.a.qp->qp_num);
  EXPECT_EQ(received.wc_flags & IBV_WC_WITH_IMM, 0U);
  EXPECT_EQ(memcmp(&in.memory[10], &out.memory[0], 5), 0);
  EXPECT_EQ(memcmp(&in.memory[100], &out.memory[5], 15), 0);
  EXPECT_EQ(in.memory[115], 0);
  const ibv_wc sent = pair.a.wait();
  EXPECT_EQ(sent.status, IBV_WC_SUCCESS);
  EXPECT_EQ(sent.opcode, IBV_WC_SEND);
  EXPECT_EQ(sent.wr_id, 3U);
}

TEST_F(SendTest, ALongMessageArrives) {
  ASSERT_EQ(pair.b.receive(in.sge()), 0);
  ASSERT_EQ(pair.b.receive(in.sge(0, 8), 9), 0);
  ASSERT_EQ(send(kSize, 1), 0);
  ASSERT_EQ(send(8, 2), 0);
  EXPECT_EQ(pair.b.wait().byte_len, kSize);
  EXPECT_EQ(pair.b.wait().byte_len, 8U);
  EXPECT_EQ(in.memory, out.memory);
  EXPECT_EQ(pair.a.wait().wr_id, 1U);
  EXPECT_EQ(pair.a.wait().wr_id, 2U);
}

TEST_F(SendTest, AnEmptyMessageArrivesWithoutMemory) {
  ASSERT_EQ(pair.b.receive(std::vector<ibv_sge>{}), 0);
  ASSERT_EQ(pair.a.post(send_request(nullptr)), 0);
  EXPECT_EQ(pair.b.wait().byte_len, 0U);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_SUCCESS);
}

TEST_F(SendTest, ImmediateDataArrives) {
  ASSERT_EQ(pair.b.receive(in.sge()), 0);
  ibv_sge sge = out.sge(0, 4);
  ibv_send_wr request = send_request(&sge);
  request.opcode = IBV_WR_SEND_WITH_IMM;
  request.imm_data = htonl(0x1234);
  ASSERT_EQ(pair.a.post(request), 0);
  const ibv_wc received = pair.b.wait();
  EXPECT_EQ(received.opcode, IBV_WC_RECV);
  EXPECT_EQ(received.wc_flags & IBV_WC_WITH_IMM, unsigned{IBV_WC_WITH_IMM});
  EXPECT_EQ(ntohl(received.imm_data), 0x1234U);
}

TEST_F(SendTest, AWriteWithImmediateTakesAReceive) {
  ibv_sge sge = out.sge();
  ibv_send_wr request = write_request(&sge, in.address(), in.region->rkey, 6);
  request.opcode = IBV_WR_RDMA_WRITE_WITH_IMM;
  request.imm_data = htonl(77);
  ASSERT_EQ(pair.b.receive(std::vector<ibv_sge>{}, 5), 0);
  ASSERT_EQ(pair.a.post(request), 0);
  const ibv_wc received = pair.b.wait();
  EXPECT_EQ(received.status, IBV_WC_SUCCESS);
  EXPECT_EQ(received.wr_id, 5U);
  EXPECT_EQ(received.opcode, IBV_WC_RECV_RDMA_WITH_IMM);
  EXPECT_EQ(ntohl(received.imm_data), 77U);
  EXPECT_EQ(received.byte_len, kSize);
  EXPECT_EQ(in.memory, out.memory);
  const ibv_wc sent = pair.a.wait();
  EXPECT_EQ(sent.opcode, IBV_WC_RDMA_WRITE);
  EXPECT_EQ(sent.wr_id, 6U);
}

TEST_F(SendTest, ManyMessagesArriveInOrder) {
  constexpr uint64_t kMessages = 5000;
  const Limits limits;
  uint64_t posted = 0;
  uint64_t received = 0;
  uint64_t receives = 0;
  uint64_t completed = 0;
  while (received < kMessages || completed < kMessages) {
    while (receives < kMessages && pair.b.receive(in.sge(8 * (receives % 16), 8), receives) == 0) {
      ++receives;
    }
    while (posted < kMessages) {
      ibv_sge sge{reinterpret_cast<uint64_t>(&posted), 8, 0};
      ibv_send_wr request = send_request(&sge, posted);
      request.send_flags |= IBV_SEND_INLINE;
      if (pair.a.post(request) != 0) break;
      ++posted;
    }
    ibv_wc completion{};
    while (pair.b.poll(completion)) {
      ASSERT_EQ(completion.status, IBV_WC_SUCCESS);
      ASSERT_EQ(completion.wr_id, received);
      uint64_t value = 0;
      memcpy(&value, &in.memory[8 * (received % 16)], 8);
      ASSERT_EQ(value, received);
      ++received;
    }
    while (pair.a.poll(completion)) {
      ASSERT_EQ(completion.status, IBV_WC_SUCCESS);
      ASSERT_EQ(completion.wr_id, completed);
      ++completed;
    }
  }
}

TEST_F(SendTest, MessagesArriveInOrderThoughReceivesAreScarce) {
  // Of many messages on their way the first finds no receive; one is posted before the next comes.
  constexpr uint64_t kMessages = 3000;
  std::thread receiver([&] {
    for (uint64_t i = 0; i < kMessages && !HasFailure(); ++i) {
      EXPECT_EQ(pair.b.receive(in.sge(0, 8), i), 0);
      EXPECT_EQ(pair.b.wait().status, IBV_WC_SUCCESS);
      uint64_t value = 0;
      memcpy(&value, in.memory.data(), sizeof value);
      EXPECT_EQ(value, i);
    }
  });
  uint64_t completed = 0;
  for (uint64_t i = 0; completed < kMessages && !HasFailure();) {
    ibv_sge sge{reinterpret_cast<uint64_t>(&i), sizeof i, 0};
    ibv_send_wr request = send_request(&sge, i);
    request.send_flags |= IBV_SEND_INLINE;
    while (i < kMessages && pair.a.post(request) == 0) request.wr_id = ++i;
    EXPECT_EQ(pair.a.wait().wr_id, completed);
    ++completed;
  }
  receiver.join();
}

TEST_F(SendTest, RequestsRunInTheOrderOfPosting) {
  // A READ behind a WRITE behind a SEND: the READ sees the WRITE, and neither passes the SEND,
  // which waits for a receive.
  ibv_sge source = out.sge(0, 64);
  ibv_sge sink = out.sge(1000, 64);
  ibv_send_wr read = read_request(&sink, in.address(), in.region->rkey, 3);
  ibv_send_wr write = write_request(&source, in.address(), in.region->rkey, 2);
  ibv_send_wr send = send_request(&source, 1);
  send.next = &write;
  write.next = &read;
  ASSERT_EQ(pair.a.post(send), 0);
  ibv_wc completion{};
  EXPECT_FALSE(pair.a.poll(completion));
  EXPECT_EQ(in.memory[0], 0);
  ASSERT_EQ(pair.b.receive(in.sge(500, 64)), 0);
  for (const uint64_t id : {1, 2, 3}) EXPECT_EQ(pair.a.wait().wr_id, id);
  EXPECT_EQ(memcmp(&out.memory[1000], &out.memory[0], 64), 0);
}

TEST_F(SendTest, AMessageThatDoesNotFitFailsBothEnds) {
  ASSERT_EQ(pair.b.receive(in.sge(0, 19), 4), 0);
  ASSERT_EQ(send(20), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_REM_INV_REQ_ERR);
  const ibv_wc received = pair.b.wait();
  EXPECT_EQ(received.status, IBV_WC_LOC_LEN_ERR);
  EXPECT_EQ(received.wr_id, 4U);
  EXPECT_EQ(pair.a.state(), IBV_QPS_ERR);
  EXPECT_EQ(pair.b.state(), IBV_QPS_ERR);
}

TEST_F(SendTest, AReceiveIntoMemoryThatMayNotBeWrittenFailsBothEnds) {
  const Buffer constant(pair.b.pd, 64, 0);
  ASSERT_EQ(pair.b.receive(constant.sge(), 4), 0);
  ASSERT_EQ(pair.b.receive(in.sge(), 5), 0);
  ASSERT_EQ(send(20), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_REM_OP_ERR);
  EXPECT_EQ(pair.b.wait().status, IBV_WC_LOC_PROT_ERR);
  const ibv_wc flushed = pair.b.wait();
  EXPECT_EQ(flushed.status, IBV_WC_WR_FLUSH_ERR);
  EXPECT_EQ(flushed.wr_id, 5U);
}

TEST_F(SendTest, ASenderWithTheWrongKeyFailsAlone) {
  ibv_sge sge = out.sge(0, 8);
  sge.lkey ^= 1;
  ASSERT_EQ(pair.b.receive(in.sge()), 0);
  ASSERT_EQ(pair.a.post(send_request(&sge)), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_LOC_PROT_ERR);
  EXPECT_EQ(pair.b.state(), IBV_QPS_RTS);
}

TEST_F(SendTest, ASendWaitsForAReceive) {
  ASSERT_EQ(send(8, 1), 0);
  ASSERT_EQ(send(8, 2), 0);
  ibv_wc completion{};
  EXPECT_FALSE(pair.a.poll(completion));
  ASSERT_EQ(pair.b.receive(in.sge()), 0);
  EXPECT_EQ(pair.a.wait().wr_id, 1U);
  ASSERT_EQ(pair.b.receive(in.sge()), 0);
  EXPECT_EQ(pair.a.wait().wr_id, 2U);
}

TEST(SendRetry, PatienceForAReceiveEnds) {
  const Owned<ibv_context> context = open_device();
  for (const uint8_t retries : {uint8_t{0}, uint8_t{3}}) {
    Connection connection;
    connection.rnr_retry = retries;
    const Pair pair(context.get(), connection);
    const Buffer out(pair.a.pd, 64);
    ibv_sge sge = out.sge();
    ASSERT_EQ(pair.a.post(send_request(&sge, 1)), 0);
    ASSERT_EQ(pair.a.post(send_request(&sge, 2)), 0);
    const ibv_wc first = pair.a.wait();
    EXPECT_EQ(first.status, IBV_WC_RNR_RETRY_EXC_ERR);
    EXPECT_EQ(first.wr_id, 1U);
    EXPECT_EQ(pair.a.wait().status, IBV_WC_WR_FLUSH_ERR);
    EXPECT_EQ(pair.a.state(), IBV_QPS_ERR);
    EXPECT_EQ(pair.b.state(), IBV_QPS_RTS);
  }
}

TEST(SendRetry, APeerInErrorIsGivenUp) {
  const Owned<ibv_context> context = open_device();
  const Pair pair(context.get());
  const Buffer out(pair.a.pd, 64);
  ASSERT_EQ(pair.b.to_state(IBV_QPS_ERR), 0);
  ibv_sge sge = out.sge();
  ASSERT_EQ(pair.a.post(send_request(&sge)), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_RETRY_EXC_ERR);
}

TEST(SendRetry, ADestroyedPeerIsGivenUp) {
  const Owned<ibv_context> context = open_device();
  Pair pair(context.get());
  const Buffer out(pair.a.pd, 64);
  ibv_sge sge = out.sge();
  ASSERT_EQ(pair.a.post(send_request(&sge)), 0);  // It waits for a receive.
  pair.b.qp.reset();
  EXPECT_EQ(pair.a.wait().status, IBV_WC_RETRY_EXC_ERR);
}

TEST_F(SendTest, AtomicsReturnWhatWasThere) {
  uint64_t value = 40;
  const Owned<ibv_mr> region(ibv_reg_mr(pair.b.pd, &value, sizeof value, kAllAccess));
  ibv_sge sge = out.sge(0, 8);
  ibv_send_wr request = send_request(&sge);
  request.opcode = IBV_WR_ATOMIC_FETCH_AND_ADD;
  request.wr.atomic.remote_addr = reinterpret_cast<uint64_t>(&value);
  request.wr.atomic.rkey = region->rkey;
  request.wr.atomic.compare_add = 2;
  const auto returned = [&] {
    uint64_t before = 0;
    memcpy(&before, out.memory.data(), 8);
    return before;
  };
  ASSERT_EQ(pair.a.post(request), 0);
  const ibv_wc added = pair.a.wait();
  EXPECT_EQ(added.status, IBV_WC_SUCCESS);
  EXPECT_EQ(added.opcode, IBV_WC_FETCH_ADD);
  EXPECT_EQ(returned(), 40U);
  EXPECT_EQ(value, 42U);
  request.opcode = IBV_WR_ATOMIC_CMP_AND_SWP;
  request.wr.atomic.compare_add = 41;
  request.wr.atomic.swap = 7;
  ASSERT_EQ(pair.a.post(request), 0);
  EXPECT_EQ(pair.a.wait().opcode, IBV_WC_COMP_SWAP);
  EXPECT_EQ(returned(), 42U);
  EXPECT_EQ(value, 42U);
  request.wr.atomic.compare_add = 42;
  ASSERT_EQ(pair.a.post(request), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_SUCCESS);
  EXPECT_EQ(value, 7U);
  request.wr.atomic.remote_addr += 4;
  ASSERT_EQ(pair.a.post(request), 0);
  EXPECT_EQ(pair.a.wait().status, IBV_WC_REM_INV_REQ_ERR);
}

}  // namespace
}  // namespace softverbs::test
