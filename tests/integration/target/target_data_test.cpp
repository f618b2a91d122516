// READ and WRITE of a memory export, and what its protection domains keep out.
#include <gtest/gtest.h>

#include <algorithm>

#include "event_waiter.h"
#include "raw_initiator.h"
#include "raw_queue.h"
#include "target_process.h"

namespace rdmablk::testing {
namespace {

using protocol::Access;

constexpr std::size_t kChunk = 64 << 10;
constexpr std::size_t kSize = 3 * kChunk + 512;
constexpr std::size_t kBytes = 4096;

void fill(std::span<std::byte> bytes, unsigned seed) {
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>((seed = seed * 1103515245U + 12345U) >> 16U);
}

/// An attachment with one queue and its chunk table.
struct Attached {
  Attached(EventWaiter& waiter, RawInitiator& initiator, const SocketAddress& target,
           const std::string& name, Access access)
      : reply(initiator.attach(name, access)),
        queue(waiter, target, queue_request(reply).encode()),
        chunks(queue.read_table(reply.table)) {}

  ibv_wc_status read(std::size_t chunk, std::size_t offset, std::size_t size) {
    return queue.read(chunks.at(chunk).address + offset, chunks.at(chunk).rkey, size);
  }
  ibv_wc_status write(std::size_t chunk, std::size_t offset, std::size_t size) {
    return queue.write(chunks.at(chunk).address + offset, chunks.at(chunk).rkey, size);
  }

  protocol::AttachReply reply;
  RawQueue queue;
  std::vector<protocol::ChunkEntry> chunks;
};

class TargetDataTest : public ::testing::Test {
 protected:
  void SetUp() override { initiator_.hello(); }
  void TearDown() override { target_.show_log_if_failed(); }

  Attached attach(const std::string& name, Access access) {
    return {waiter_, initiator_, target_.address(), name, access};
  }

  /// Whether the start of an export's chunk holds nothing but zeroes.
  bool is_zero(const std::string& name, std::size_t chunk) {
    auto attached = attach(name, Access::read_only);
    EXPECT_EQ(attached.read(chunk, 0, 512), IBV_WC_SUCCESS);
    const auto bytes = attached.queue.buffer().first(512);
    return std::all_of(bytes.begin(), bytes.end(), [](std::byte b) { return b == std::byte{}; });
  }

  /// An access that the device must refuse: by a status, but for an iWARP WRITE, which ends the
  /// queue.
  static void expect_refused(Attached& attached, ibv_wc_status status) {
    if (attached.queue.is_iwarp()) {
      EXPECT_NE(status, IBV_WC_SUCCESS);
    } else {
      EXPECT_EQ(status, IBV_WC_REM_ACCESS_ERR);
    }
  }

  TargetProcess target_{
      {"--export", "disk=memory:197120,chunk=64K,shared", "--export", "other=memory:1M"}};
  EventWaiter waiter_;
  RawInitiator initiator_{waiter_, target_.address()};
};

TEST_F(TargetDataTest, DescribesItsChunks) {
  const auto attached = attach("disk", Access::read_write);
  EXPECT_EQ(attached.reply.info.size, kSize);
  EXPECT_EQ(attached.reply.table.chunk_size, kChunk);
  EXPECT_EQ(attached.chunks.size(), 4U);
}

TEST_F(TargetDataTest, IsZeroBeforeItIsWritten) {
  for (std::size_t chunk = 0; chunk < 4; ++chunk) EXPECT_TRUE(is_zero("disk", chunk));
}

TEST_F(TargetDataTest, ReadsWhatAnotherSessionWrote) {
  auto writer = attach("disk", Access::read_write);
  std::vector<std::byte> pattern(kBytes);
  fill(pattern, 1);
  std::copy(pattern.begin(), pattern.end(), writer.queue.buffer().begin());
  ASSERT_EQ(writer.write(2, 777, kBytes), IBV_WC_SUCCESS);

  RawInitiator other(waiter_, target_.address());
  other.hello();
  Attached reader(waiter_, other, target_.address(), "disk", Access::read_only);
  ASSERT_EQ(reader.read(2, 777, kBytes), IBV_WC_SUCCESS);
  EXPECT_TRUE(std::equal(pattern.begin(), pattern.end(), reader.queue.buffer().begin()));
}

TEST_F(TargetDataTest, EndsWithItsLastByte) {
  auto attached = attach("disk", Access::read_write);
  EXPECT_EQ(attached.read(3, 0, 512), IBV_WC_SUCCESS);
  expect_refused(attached, attached.read(3, 0, 513));
}

TEST_F(TargetDataTest, ReadOnlyQueuesCannotWrite) {
  auto attached = attach("disk", Access::read_only);
  fill(attached.queue.buffer(), 2);
  expect_refused(attached, attached.write(0, 0, 512));
  EXPECT_TRUE(is_zero("disk", 0));
}

TEST_F(TargetDataTest, ReadOnlyQueuesCannotUseTheWritableRegistration) {
  const auto writable = attach("disk", Access::read_write);
  auto attached = attach("disk", Access::read_only);
  fill(attached.queue.buffer(), 3);
  expect_refused(attached,
                 attached.queue.write(writable.chunks[0].address, writable.chunks[0].rkey, 512));
  EXPECT_TRUE(is_zero("disk", 0));
}

TEST_F(TargetDataTest, QueuesCannotReachAnotherExport) {
  const auto other = attach("other", Access::read_write);
  auto reader = attach("disk", Access::read_write);
  expect_refused(reader, reader.queue.read(other.chunks[0].address, other.chunks[0].rkey, 512));
  auto writer = attach("disk", Access::read_write);
  fill(writer.queue.buffer(), 4);
  expect_refused(writer, writer.queue.write(other.chunks[0].address, other.chunks[0].rkey, 512));
  EXPECT_TRUE(is_zero("other", 0));
}

TEST_F(TargetDataTest, TheChunkTableCannotBeWritten) {
  auto attached = attach("disk", Access::read_write);
  const auto& table = attached.reply.table;
  expect_refused(attached, attached.queue.write(table.address, table.rkey, 16));
  EXPECT_EQ(attach("disk", Access::read_write).chunks.size(), 4U);
}

TEST_F(TargetDataTest, ALostQueueLeavesTheOthersAlone) {
  auto good = attach("disk", Access::read_write);
  {
    auto bad = attach("disk", Access::read_write);
    expect_refused(bad, bad.queue.read(0x1000, 0xdead, 512));
  }
  EXPECT_EQ(good.write(0, 0, 512), IBV_WC_SUCCESS);
}

TEST_F(TargetDataTest, NothingIsReceivedOnIoQueues) {
  {
    auto attached = attach("disk", Access::read_write);
    for (int i = 0; i < 1000; ++i) {
      ASSERT_EQ(attached.write(0, 0, 512), IBV_WC_SUCCESS);
      ASSERT_EQ(attached.read(1, 0, 512), IBV_WC_SUCCESS);
    }
  }
  target_.terminate();
  EXPECT_EQ(target_.wait(), 0);
  EXPECT_NE(target_.log().find("io_queue_receives=0"), std::string::npos);
}

}  // namespace
}  // namespace rdmablk::testing
