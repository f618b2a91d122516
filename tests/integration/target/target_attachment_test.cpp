// Attachments and the right to connect their I/O queues.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "event_waiter.h"
#include "raw_initiator.h"
#include "raw_queue.h"
#include "target_process.h"

namespace rdmablk::testing {
namespace {

using protocol::Access;
using protocol::MessageType;
using protocol::Status;

class TargetAttachmentTest : public ::testing::Test {
 protected:
  void SetUp() override { initiator_.hello(); }
  void TearDown() override { target_.show_log_if_failed(); }

  Status refusal_of(const protocol::QueueRequest& request) {
    const RawQueue queue(waiter_, target_.address(), request.encode());
    return queue.refusal() ? queue.refusal()->status : Status::ok;
  }

  TargetProcess target_{
      {"--export", "disk=memory:1M,shared", "--export", "rom=memory:64K,readonly"}};
  EventWaiter waiter_;
  RawInitiator initiator_{waiter_, target_.address()};
};

TEST_F(TargetAttachmentTest, RefusesToWriteAReadOnlyExport) {
  const auto received =
      initiator_.request(MessageType::attach, attach_request("rom", Access::read_write));
  EXPECT_EQ(received.header.status, Status::read_only);
}

TEST_F(TargetAttachmentTest, ConnectsTheQueuesThatWereGranted) {
  const auto attached = initiator_.attach("disk", Access::read_write, 2);
  EXPECT_EQ(attached.queues, 2);
  const RawQueue first(waiter_, target_.address(), queue_request(attached, 0).encode());
  const RawQueue second(waiter_, target_.address(), queue_request(attached, 1).encode());
  EXPECT_TRUE(first.connected());
  EXPECT_TRUE(second.connected());
  EXPECT_EQ(refusal_of(queue_request(attached, 2)), Status::limit);
}

TEST_F(TargetAttachmentTest, RefusesAWrongProof) {
  const auto attached = initiator_.attach("disk", Access::read_write);
  auto wrong_token = queue_request(attached);
  wrong_token.proof[31] ^= std::byte{1};
  EXPECT_EQ(refusal_of(wrong_token), Status::no_attachment);
  auto wrong_nonce = queue_request(attached);
  wrong_nonce.nonce[0] ^= std::byte{1};
  EXPECT_EQ(refusal_of(wrong_nonce), Status::no_attachment);
  EXPECT_EQ(refusal_of(queue_request(attached)), Status::ok);
}

TEST_F(TargetAttachmentTest, RefusesTheProofOfAnotherAttachment) {
  const auto first = initiator_.attach("disk", Access::read_write);
  const auto second = initiator_.attach("disk", Access::read_only);
  auto mixed = queue_request(first);
  mixed.attachment = second.attachment;
  EXPECT_EQ(refusal_of(mixed), Status::no_attachment);
}

TEST_F(TargetAttachmentTest, RefusesAnEarlierEpoch) {
  const auto attached = initiator_.attach("disk", Access::read_write);
  auto request = queue_request(attached);
  --request.epoch;
  EXPECT_EQ(refusal_of(request), Status::stale);
}

TEST_F(TargetAttachmentTest, RefusesAnUnknownAttachment) {
  const auto attached = initiator_.attach("disk", Access::read_write);
  auto request = queue_request(attached);
  ++request.attachment;
  EXPECT_EQ(refusal_of(request), Status::no_attachment);
  request.attachment = ~request.attachment;
  EXPECT_EQ(refusal_of(request), Status::no_attachment);
}

TEST_F(TargetAttachmentTest, RefusesAConnectionThatWasMadeBefore) {
  const auto attached = initiator_.attach("disk", Access::read_write);
  RawQueue queue(waiter_, target_.address(), queue_request(attached).encode());
  ASSERT_TRUE(queue.connected());
  EXPECT_EQ(refusal_of(queue_request(attached)), Status::stale);
  EXPECT_FALSE(queue.read_table(attached.table).empty()) << "nothing happens to the one there is";
}

TEST_F(TargetAttachmentTest, ALaterEpochTakesThePlaceOfAQueue) {
  const auto attached = initiator_.attach("disk", Access::read_write);
  auto request = queue_request(attached);
  RawQueue old(waiter_, target_.address(), request.encode());
  ASSERT_TRUE(old.connected());
  ++request.epoch;
  RawQueue next(waiter_, target_.address(), request.encode());
  ASSERT_TRUE(next.connected());
  old.wait_until_disconnected();
  EXPECT_FALSE(next.read_table(attached.table).empty());
  EXPECT_EQ(refusal_of(queue_request(attached)), Status::stale);
}

TEST_F(TargetAttachmentTest, RefusesPrivateDataOfAnotherProtocol) {
  const std::array<std::byte, 8> other{std::byte{1}, std::byte{2}};
  const RawQueue queue(waiter_, target_.address(), other);
  ASSERT_TRUE(queue.refusal());
  EXPECT_EQ(queue.refusal()->status, Status::malformed);
}

TEST_F(TargetAttachmentTest, DetachingEndsItsQueuesAndNoOthers) {
  const auto first = initiator_.attach("disk", Access::read_write);
  const auto second = initiator_.attach("disk", Access::read_write);
  RawQueue gone(waiter_, target_.address(), queue_request(first).encode());
  RawQueue stays(waiter_, target_.address(), queue_request(second).encode());
  ASSERT_TRUE(gone.connected());
  const auto reply = initiator_.request(MessageType::detach, protocol::Detach{first.attachment});
  EXPECT_EQ(reply.header.status, Status::ok);
  gone.wait_until_disconnected();
  EXPECT_FALSE(stays.read_table(second.table).empty());
  EXPECT_EQ(refusal_of(queue_request(first)), Status::no_attachment);
  const auto again = initiator_.request(MessageType::detach, protocol::Detach{first.attachment});
  EXPECT_EQ(again.header.status, Status::no_attachment);
}

TEST_F(TargetAttachmentTest, CutsWhatIsAskedForToItsLimits) {
  auto request = attach_request("disk", Access::read_write, 1000);
  request.depth = 1'000'000;
  const auto received = initiator_.request(MessageType::attach, request);
  const auto reply = protocol::AttachReply::decode(received.payload);
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->queues, 64);
  EXPECT_EQ(reply->depth, 4096U);
}

}  // namespace
}  // namespace rdmablk::testing
