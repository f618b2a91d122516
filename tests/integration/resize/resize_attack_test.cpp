// What an initiator can reach of an export that has become smaller, when it keeps to no rule: what
// is left, and no more. Only the kernel's devices prove it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "commanded_target.h"
#include "common/protocol/features.h"
#include "common/random.h"
#include "event_waiter.h"
#include "raw_initiator.h"
#include "raw_queue.h"

namespace rdmablk::testing {
namespace {

using protocol::Access;
using protocol::MessageType;

constexpr std::uint64_t kChunk = 64 << 10;
constexpr std::uint64_t kLarge = 4 * kChunk;
constexpr std::uint64_t kSmall = kChunk + 8192;  // cuts the second chunk

class ResizeAttackTest : public ::testing::Test {
 protected:
  ResizeAttackTest() {
    protocol::Hello hello;
    hello.instance = random_bytes<protocol::InstanceId>();
    hello.version_min = hello.version_max = protocol::kVersion;
    hello.features = protocol::kKnownFeatures;
    const auto reply =
        protocol::HelloReply::decode(initiator_.request(MessageType::hello, hello).payload);
    EXPECT_TRUE(reply->features.has(protocol::Feature::resize));
  }
  void TearDown() override { target_.process().show_log_if_failed(); }

  std::unique_ptr<RawQueue> connect() {
    return std::make_unique<RawQueue>(waiter_, target_.process().address(),
                                      queue_request(attachment_, queues_++).encode());
  }

  /// The notice that comes next, not acknowledged.
  protocol::EventNotice receive_notice() {
    const auto received = initiator_.receive();
    EXPECT_EQ(received.header.type, MessageType::event);
    tag_ = received.header.tag;
    return protocol::EventNotice::decode(received.payload).value();
  }
  void acknowledge() {
    initiator_.send({MessageType::event, true, protocol::Status::ok, tag_}, protocol::Empty{});
  }

  ibv_wc_status read(const protocol::ChunkEntry& chunk, std::uint64_t offset, std::size_t size) {
    return connect()->read(chunk.address + offset, chunk.rkey, size);
  }
  ibv_wc_status write(const protocol::ChunkEntry& chunk, std::uint64_t offset, std::size_t size) {
    return connect()->write(chunk.address + offset, chunk.rkey, size);
  }

  CommandedTarget target_{{"--export", "disk=memory:256K,chunk=64K", "--keepalive", "0"}};
  EventWaiter waiter_;
  RawInitiator initiator_{waiter_, target_.process().address()};
  protocol::AttachReply attachment_;
  std::uint16_t queues_ = 0;
  std::uint64_t tag_ = 0;
};

TEST_F(ResizeAttackTest, ReachesNothingThatWasCutOff) {
  attachment_ = initiator_.attach("disk", Access::read_write, 32);
  const auto queue = connect();
  const auto old = queue->read_table(attachment_.table);
  ASSERT_EQ(old.size(), 4U);
  std::ranges::fill(queue->buffer(), std::byte{0x77});
  for (const auto& chunk : old) {
    ASSERT_EQ(queue->write(chunk.address, chunk.rkey, kChunk), IBV_WC_SUCCESS);
  }
  target_.begin_resize("disk", kSmall);
  const auto notice = receive_notice();
  EXPECT_EQ(notice.kind, protocol::EventKind::resized);
  EXPECT_EQ(notice.attachment, attachment_.attachment);
  EXPECT_EQ(notice.size, kSmall);
  EXPECT_EQ(notice.table.count, 2U);
  EXPECT_GT(notice.table.number, attachment_.table.number);
  // Nothing goes away before it is acknowledged.
  ASSERT_EQ(queue->read(old[3].address, old[3].rkey, kChunk), IBV_WC_SUCCESS);
  ASSERT_EQ(queue->buffer()[100], std::byte{0x77});
  const auto now = queue->read_table(notice.table);
  EXPECT_EQ(now[0].rkey, old[0].rkey) << "what stays is the same";
  EXPECT_NE(now[1].rkey, old[1].rkey) << "what is cut is another one";
  acknowledge();
  ASSERT_EQ(target_.answer("disk"), "done");
  // What is left.
  ASSERT_EQ(queue->read(now[1].address, now[1].rkey, 8192), IBV_WC_SUCCESS);
  EXPECT_EQ(queue->buffer()[8191], std::byte{0x77});
  // And what is not: by the old keys, and past the end by the new one.
  for (const std::size_t gone : {2U, 3U}) {
    EXPECT_NE(read(old[gone], 0, 64), IBV_WC_SUCCESS) << gone;
    EXPECT_NE(read(old[gone], kChunk - 64, 64), IBV_WC_SUCCESS) << gone;
  }
  EXPECT_NE(read(old[1], 0, 64), IBV_WC_SUCCESS) << "the old key of the chunk that was cut";
  EXPECT_NE(read(old[1], 8192, 64), IBV_WC_SUCCESS);
  EXPECT_NE(read(now[1], 8192, 64), IBV_WC_SUCCESS) << "behind the end";
  EXPECT_NE(read(now[1], 8192 - 32, 64), IBV_WC_SUCCESS) << "across the end";
  EXPECT_NE(connect()->read(attachment_.table.address, attachment_.table.rkey, 16), IBV_WC_SUCCESS)
      << "the old table";
  write(old[3], 0, 64);
  write(now[1], 8192, 64);
  // What it could not write to is zero when it is there again.
  target_.begin_resize("disk", kLarge);
  const auto grown = receive_notice();
  const auto after = queue->read_table(grown.table);
  acknowledge();
  ASSERT_EQ(target_.answer("disk"), "done");
  for (const std::size_t again : {2U, 3U}) {
    ASSERT_EQ(queue->read(after[again].address, after[again].rkey, kChunk), IBV_WC_SUCCESS);
    EXPECT_TRUE(std::ranges::all_of(queue->buffer().first(kChunk),
                                    [](std::byte b) { return b == std::byte{}; }));
  }
  ASSERT_EQ(queue->read(after[1].address + 8192, after[1].rkey, kChunk - 8192), IBV_WC_SUCCESS);
  EXPECT_TRUE(std::ranges::all_of(queue->buffer().first(kChunk - 8192),
                                  [](std::byte b) { return b == std::byte{}; }));
}

/// One at a time is unacknowledged; what changes meanwhile is told once.
TEST_F(ResizeAttackTest, IsToldOneThingAtATimeAndTheLastOnly) {
  attachment_ = initiator_.attach("disk", Access::read_write);
  for (const std::uint64_t size : {5U, 6U, 7U}) {
    ASSERT_EQ(target_.resize("disk", size * kChunk), "done");
  }
  EXPECT_EQ(receive_notice().size, 5 * kChunk);
  acknowledge();
  EXPECT_EQ(receive_notice().size, 7 * kChunk);
  acknowledge();
  target_.process().terminate();
  EXPECT_EQ(receive_notice().kind, protocol::EventKind::shutting_down);
}

/// An acknowledgement of what was not told ends the session.
TEST_F(ResizeAttackTest, CannotAcknowledgeInAdvance) {
  attachment_ = initiator_.attach("disk", Access::read_write);
  acknowledge();
  EXPECT_EQ(initiator_.receive().header.type, MessageType::error);
}

/// The end of the one who has to acknowledge will do, too.
TEST_F(ResizeAttackTest, ItsEndLetsTheTargetGoOn) {
  attachment_ = initiator_.attach("disk", Access::read_write);
  target_.begin_resize("disk", kChunk);
  receive_notice();
  initiator_.request(MessageType::detach, protocol::Detach{attachment_.attachment});
  EXPECT_EQ(target_.answer("disk"), "done");
  acknowledge();
  EXPECT_EQ(initiator_.attach("disk", Access::read_only).info.size, kChunk);
}

}  // namespace
}  // namespace rdmablk::testing
