// What a device refuses. On InfiniBand and RoCE the completion says why; on iWARP a refused WRITE
// may complete with success, so there the target's bytes and the state of the queue are looked at.

#include <gtest/gtest.h>

#include <algorithm>

#include "common/verbs/context.h"
#include "common/verbs/memory_region.h"
#include "common/verbs/registered_buffer.h"
#include "tests/integration/verbs/connected_pair.h"

namespace rdmablk::testing {
namespace {

constexpr std::size_t kSize = 8192;
constexpr unsigned kReadWrite =
    IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
constexpr std::byte kOld{0x11};
constexpr std::byte kNew{0x22};

class Protection : public ::testing::Test {
 protected:
  Protection() {
    std::fill_n(source_.data(), kSize, kNew);
    std::fill_n(memory_.data(), kSize, kOld);
  }

  /// Posts and waits; what is outstanding after a failure completes too.
  ibv_wc run(ibv_wr_opcode opcode, std::size_t size, std::uint64_t address, std::uint32_t rkey) {
    Work work(opcode, source_.data(), size, source_.lkey(), address, rkey);
    EXPECT_EQ(work.post(pair_.initiator), 0);
    return pair_.wait(pair_.initiator);
  }

  static std::uint64_t address_of(const std::byte* memory) {
    return reinterpret_cast<std::uintptr_t>(memory);
  }

  bool unchanged(std::span<const std::byte> memory) {
    return std::all_of(memory.begin(), memory.end(), [](std::byte b) { return b == kOld; });
  }

  /// Expects that the device refuses a WRITE and then everything else.
  void expect_write_refused(std::size_t size, std::uint64_t address, std::uint32_t rkey) {
    const ibv_wc completion = run(IBV_WR_RDMA_WRITE, size, address, rkey);
    if (!pair_.is_iwarp()) {
      EXPECT_EQ(completion.status, IBV_WC_REM_ACCESS_ERR) << ibv_wc_status_str(completion.status);
    }
    expect_queue_in_error();
    EXPECT_TRUE(unchanged(memory_.bytes()));
  }

  void expect_read_refused(std::size_t size, std::uint64_t address, std::uint32_t rkey) {
    const ibv_wc completion = run(IBV_WR_RDMA_READ, size, address, rkey);
    EXPECT_NE(completion.status, IBV_WC_SUCCESS);
    if (!pair_.is_iwarp()) {
      EXPECT_EQ(completion.status, IBV_WC_REM_ACCESS_ERR) << ibv_wc_status_str(completion.status);
    }
    expect_queue_in_error();
    EXPECT_TRUE(std::all_of(source_.bytes().begin(), source_.bytes().begin() + kSize,
                            [](std::byte b) { return b == kNew; }));
  }

  void expect_queue_in_error() {
    if (pair_.is_iwarp()) {
      // What is posted now may neither be refused nor complete (soft-iWARP).
      pair_.run_until([&] { return pair_.is_disconnected(pair_.initiator); });
      EXPECT_EQ(pair_.initiator.qp().state(), IBV_QPS_ERR);
      return;
    }
    Work probe(IBV_WR_RDMA_READ, source_.data(), 8, source_.lkey(), address_of(memory_.data()),
               memory_.rkey());
    ASSERT_EQ(probe.post(pair_.initiator), 0);
    EXPECT_EQ(pair_.wait(pair_.initiator).status, IBV_WC_WR_FLUSH_ERR);
  }

  ConnectedPair pair_;
  verbs::RegisteredBuffer source_{*pair_.initiator.pd, kSize,
                                  verbs::local_access(pair_.initiator.pd->context())};
  verbs::RegisteredBuffer memory_{*pair_.target.pd, kSize, kReadWrite};
};

TEST_F(Protection, WriteAndReadArrive) {
  EXPECT_EQ(run(IBV_WR_RDMA_WRITE, kSize, address_of(memory_.data()), memory_.rkey()).status,
            IBV_WC_SUCCESS);
  std::fill_n(source_.data(), kSize, std::byte{0});
  EXPECT_EQ(run(IBV_WR_RDMA_READ, kSize, address_of(memory_.data()), memory_.rkey()).status,
            IBV_WC_SUCCESS);
  EXPECT_EQ(source_.data()[0], kNew);
  EXPECT_EQ(source_.data()[kSize - 1], kNew);
}

TEST_F(Protection, WriteNeedsRemoteWrite) {
  const verbs::MemoryRegion read_only(*pair_.target.pd, memory_.bytes(),
                                      IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_READ);
  expect_write_refused(64, address_of(memory_.data()), read_only.rkey());
}

TEST_F(Protection, ReadNeedsRemoteRead) {
  const verbs::MemoryRegion write_only(*pair_.target.pd, memory_.bytes(),
                                       IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
  if (pair_.is_iwarp()) GTEST_SKIP() << "soft-iWARP does not look at REMOTE_READ";
  expect_read_refused(64, address_of(memory_.data()), write_only.rkey());
}

TEST_F(Protection, ReadOnlyRegionCanBeRead) {
  const verbs::MemoryRegion read_only(*pair_.target.pd, memory_.bytes(), IBV_ACCESS_REMOTE_READ);
  EXPECT_EQ(run(IBV_WR_RDMA_READ, 64, address_of(memory_.data()), read_only.rkey()).status,
            IBV_WC_SUCCESS);
  EXPECT_EQ(source_.data()[63], kOld);
}

TEST_F(Protection, WritePastTheEnd) {
  expect_write_refused(64, address_of(memory_.data()) + kSize - 32, memory_.rkey());
}

TEST_F(Protection, WriteBeforeTheStart) {
  const verbs::MemoryRegion half(*pair_.target.pd, memory_.bytes().subspan(4096), kReadWrite);
  expect_write_refused(64, address_of(memory_.data()), half.rkey());
}

TEST_F(Protection, ReadPastTheEnd) {
  expect_read_refused(64, address_of(memory_.data()) + kSize - 32, memory_.rkey());
}

TEST_F(Protection, WriteWithWrongRkey) {
  expect_write_refused(64, address_of(memory_.data()), memory_.rkey() ^ 0x5a5a00);
}

TEST_F(Protection, ReadWithWrongRkey) {
  expect_read_refused(64, address_of(memory_.data()), memory_.rkey() ^ 0x5a5a00);
}

TEST_F(Protection, WriteToDeregisteredRegion) {
  std::optional<verbs::MemoryRegion> gone(std::in_place, *pair_.target.pd, memory_.bytes(),
                                          kReadWrite);
  const std::uint32_t rkey = gone->rkey();
  gone.reset();
  expect_write_refused(64, address_of(memory_.data()), rkey);
}

TEST_F(Protection, ReadOfDeregisteredRegion) {
  std::optional<verbs::MemoryRegion> gone(std::in_place, *pair_.target.pd, memory_.bytes(),
                                          kReadWrite);
  const std::uint32_t rkey = gone->rkey();
  gone.reset();
  expect_read_refused(64, address_of(memory_.data()), rkey);
}

TEST_F(Protection, WriteToAnotherProtectionDomain) {
  const verbs::ProtectionDomain other(pair_.target.pd->context());
  const verbs::MemoryRegion region(other, memory_.bytes(), kReadWrite);
  expect_write_refused(64, address_of(memory_.data()), region.rkey());
}

TEST_F(Protection, ReadOfAnotherProtectionDomain) {
  const verbs::ProtectionDomain other(pair_.target.pd->context());
  const verbs::MemoryRegion region(other, memory_.bytes(), kReadWrite);
  expect_read_refused(64, address_of(memory_.data()), region.rkey());
}

TEST_F(Protection, LocalKeyOfAnotherProtectionDomain) {
  const verbs::ProtectionDomain other(pair_.initiator.pd->context());
  const verbs::MemoryRegion region(other, source_.bytes(), IBV_ACCESS_LOCAL_WRITE);
  Work work(IBV_WR_RDMA_WRITE, source_.data(), 64, region.lkey(), address_of(memory_.data()),
            memory_.rkey());
  if (work.post(pair_.initiator) == 0) {
    EXPECT_NE(pair_.wait(pair_.initiator).status, IBV_WC_SUCCESS);
  }
  EXPECT_TRUE(unchanged(memory_.bytes()));
}

TEST_F(Protection, DestroyedQueuePairReachesNothing) {
  pair_.target.connection.reset();
  Work work(IBV_WR_RDMA_WRITE, source_.data(), 64, source_.lkey(), address_of(memory_.data()),
            memory_.rkey());
  EXPECT_EQ(work.post(pair_.initiator), 0);
  if (pair_.is_iwarp()) {
    pair_.run_until([&] { return pair_.is_disconnected(pair_.initiator); });
  } else {
    EXPECT_NE(pair_.wait(pair_.initiator).status, IBV_WC_SUCCESS);
  }
  EXPECT_TRUE(unchanged(memory_.bytes()));
}

TEST(QueuePairState, RefusesToSendBeforeItIsReady) {
  ConnectedPair pair;
  verbs::QueuePair fresh = verbs::make_queue_pair(*pair.initiator.pd, *pair.initiator.cq, {});
  EXPECT_LT(fresh.state(), IBV_QPS_RTS);
  std::byte data{};
  Work work(IBV_WR_RDMA_WRITE, &data, 1, 0, 0, 0);
  ibv_send_wr* unposted = nullptr;
  EXPECT_GT(fresh.post_send(work.request, unposted), 0);
}

TEST(QueuePairState, FlushesWhatIsPostedInError) {
  ConnectedPair pair;
  const verbs::RegisteredBuffer buffer(*pair.initiator.pd, 4096, IBV_ACCESS_LOCAL_WRITE);
  ASSERT_EQ(pair.initiator.qp().fail(), 0);
  EXPECT_EQ(pair.initiator.qp().state(), IBV_QPS_ERR);
  if (pair.is_iwarp()) GTEST_SKIP() << "soft-iWARP takes the request and forgets it";
  Work work(IBV_WR_RDMA_WRITE, buffer.data(), 8, buffer.lkey(), 0, 0);
  ASSERT_EQ(work.post(pair.initiator), 0);
  EXPECT_EQ(pair.wait(pair.initiator).status, IBV_WC_WR_FLUSH_ERR);
}

}  // namespace
}  // namespace rdmablk::testing
