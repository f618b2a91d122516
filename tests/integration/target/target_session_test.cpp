// The admin queue of a real target: greetings, lists, nonsense and farewells.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <optional>

#include "common/error.h"
#include "event_waiter.h"
#include "raw_initiator.h"
#include "raw_queue.h"
#include "target_process.h"

namespace rdmablk::testing {
namespace {

using protocol::Access;
using protocol::MessageType;
using protocol::Status;
using ::testing::HasSubstr;

class TargetSessionTest : public ::testing::Test {
 protected:
  void TearDown() override { target_.show_log_if_failed(); }

  TargetProcess target_{
      {"--export", "disk=memory:1M", "--export", "rom=memory:64K,readonly", "--admin-rate", "0"}};
  EventWaiter waiter_;
};

TEST_F(TargetSessionTest, ListsItsExports) {
  RawInitiator initiator(waiter_, target_.address());
  EXPECT_NE(initiator.hello().session, 0U);
  const auto received = initiator.request(MessageType::list, protocol::List{});
  const auto reply = protocol::ListReply::decode(received.payload);
  ASSERT_TRUE(reply);
  ASSERT_EQ(reply->exports.size(), 2U);
  EXPECT_EQ(reply->exports[0].name, "disk");
  EXPECT_EQ(reply->exports[0].size, 1U << 20U);
  EXPECT_FALSE(reply->exports[0].read_only);
  EXPECT_EQ(reply->exports[1].name, "rom");
  EXPECT_TRUE(reply->exports[1].read_only);
}

TEST_F(TargetSessionTest, SaysWhichExportsThereAre) {
  RawInitiator initiator(waiter_, target_.address());
  initiator.hello();
  const auto received =
      initiator.request(MessageType::attach, attach_request("nope", Access::read_only));
  EXPECT_EQ(received.header.status, Status::no_export);
  EXPECT_THAT(received.reason(), HasSubstr("disk, rom"));
}

TEST_F(TargetSessionTest, AnswersAsManyRequestsAsItGaveCreditsFor) {
  RawInitiator initiator(waiter_, target_.address());
  const unsigned credits = initiator.hello().credits;
  for (std::uint64_t round = 0; round < 1000; ++round) {
    for (unsigned i = 0; i < credits; ++i) {
      initiator.send({MessageType::keepalive, false, Status::ok, round}, protocol::Empty{});
    }
    for (unsigned i = 0; i < credits; ++i) {
      const auto reply = initiator.receive();
      ASSERT_TRUE(reply.header.is_reply);
      ASSERT_EQ(reply.header.tag, round);
    }
  }
}

TEST_F(TargetSessionTest, EndsASessionThatDoesNotBeginWithHello) {
  RawInitiator initiator(waiter_, target_.address());
  const auto received = initiator.request(MessageType::list, protocol::List{});
  EXPECT_EQ(received.header.type, MessageType::error);
  EXPECT_EQ(received.header.status, Status::malformed);
  EXPECT_THAT(received.reason(), HasSubstr("HELLO"));
  initiator.wait_until_disconnected();
}

TEST_F(TargetSessionTest, EndsOnlyTheSessionThatSendsNonsense) {
  RawInitiator good(waiter_, target_.address());
  good.hello();
  RawInitiator bad(waiter_, target_.address());
  bad.hello();
  const auto attached = bad.attach("disk", Access::read_write);
  RawQueue queue(waiter_, target_.address(), queue_request(attached).encode());
  ASSERT_TRUE(queue.connected());
  const std::array<std::byte, 100> nonsense{std::byte{0x5a}};
  bad.send_bytes(nonsense);
  const auto received = bad.receive();
  EXPECT_EQ(received.header.type, MessageType::error);
  EXPECT_THAT(received.reason(), HasSubstr("no message"));
  queue.wait_until_disconnected();
  bad.wait_until_disconnected();
  EXPECT_EQ(good.request(MessageType::keepalive, protocol::Empty{}).header.status, Status::ok);
}

TEST_F(TargetSessionTest, SurvivesPayloadsOfEveryLengthAndType) {
  struct Zeroes {
    std::size_t size;
    void encode(protocol::WireWriter& writer) const { writer.pad(size); }
  };
  for (std::uint16_t type = 0; type < 10; ++type) {
    if (MessageType{type} == MessageType::error) continue;  // has no answer
    for (const std::size_t size : {0U, 1U, 7U, 64U, 500U, 4072U}) {
      RawInitiator initiator(waiter_, target_.address());
      initiator.hello();
      const auto received = initiator.request(MessageType{type}, Zeroes{size});
      const bool is_error = received.header.type == MessageType::error;
      EXPECT_TRUE(is_error || received.header.is_reply) << type << " with " << size;
    }
  }
  RawInitiator initiator(waiter_, target_.address());
  EXPECT_NE(initiator.hello().session, 0U);
}

TEST_F(TargetSessionTest, EndsASessionWhoseInitiatorReportsAnError) {
  RawInitiator initiator(waiter_, target_.address());
  initiator.hello();
  initiator.send({MessageType::error, false, Status::internal, 0}, protocol::Reason{"no more"});
  initiator.wait_until_disconnected();
}

TEST_F(TargetSessionTest, LosingTheAdminQueueEndsTheIoQueues) {
  std::optional<RawInitiator> initiator(std::in_place, waiter_, target_.address());
  initiator->hello();
  const auto attached = initiator->attach("disk", Access::read_write, 2);
  RawQueue first(waiter_, target_.address(), queue_request(attached, 0).encode());
  RawQueue second(waiter_, target_.address(), queue_request(attached, 1).encode());
  ASSERT_TRUE(first.connected());
  ASSERT_TRUE(second.connected());
  initiator.reset();
  first.wait_until_disconnected();
  second.wait_until_disconnected();
}

TEST_F(TargetSessionTest, SaysGoodbyeAndCounts) {
  RawInitiator initiator(waiter_, target_.address());
  initiator.hello();
  const auto attached = initiator.attach("disk", Access::read_write);
  RawQueue queue(waiter_, target_.address(), queue_request(attached).encode());
  ASSERT_TRUE(queue.connected());
  target_.terminate();
  const auto received = initiator.receive();
  EXPECT_EQ(received.header.type, MessageType::event);
  const auto notice = protocol::EventNotice::decode(received.payload);
  ASSERT_TRUE(notice);
  EXPECT_EQ(notice->kind, protocol::EventKind::shutting_down);
  initiator.send({MessageType::event, true, Status::ok, received.header.tag}, protocol::Empty{});
  initiator.wait_until_disconnected();
  queue.wait_until_disconnected();
  EXPECT_EQ(target_.wait(), 0);
  EXPECT_THAT(target_.log(), HasSubstr("sessions=1 attachments=1 io_queues=1 messages=3 "
                                       "io_queue_receives=0 refused=0"));
}

TEST_F(TargetSessionTest, EndsWithoutBeingAcknowledged) {
  RawInitiator initiator(waiter_, target_.address());
  initiator.hello();
  target_.terminate();
  EXPECT_EQ(target_.wait(), 0);
}

TEST(TargetHandshakeTest, DropsWhoSaysNothing) {
  TargetProcess target({"--export", "disk=memory:1M", "--handshake-timeout", "0.1"});
  EventWaiter waiter;
  RawInitiator initiator(waiter, target.address());
  const auto received = initiator.receive();
  EXPECT_EQ(received.header.type, MessageType::error);
  EXPECT_EQ(received.reason(), "it did not say who it is within 0.1 s");
  initiator.wait_until_disconnected();
}

/// Why a target refuses another session; empty when it does not.
std::string refusal_of(EventWaiter& waiter, const TargetProcess& target) {
  try {
    const RawInitiator one_more(waiter, target.address());
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(TargetHandshakeTest, LimitsSessions) {
  TargetProcess target({"--export", "disk=memory:1M", "--max-sessions", "2"});
  EventWaiter waiter;
  RawInitiator first(waiter, target.address());
  first.hello();
  std::optional<RawInitiator> second(std::in_place, waiter, target.address());
  second->hello();
  EXPECT_EQ(refusal_of(waiter, target), "refused: the target has 2 sessions");
}

/// Nor does who is still reading why it was refused.
TEST(TargetHandshakeTest, WhoIsNotInTakesNoSession) {
  TargetProcess target({"--export", "disk=memory:1M", "--max-sessions", "1"});
  EventWaiter waiter;
  RawInitiator refused(waiter, target.address());
  EXPECT_EQ(refused.request(MessageType::list, protocol::List{}).header.type, MessageType::error);
  RawInitiator silent(waiter, target.address());
  RawInitiator late(waiter, target.address());
  RawInitiator first(waiter, target.address());
  first.hello();
  EXPECT_THROW(late.hello(), Error) << "there is one session by now";
  late.wait_until_disconnected();
  EXPECT_EQ(first.request(MessageType::keepalive, protocol::Empty{}).header.status, Status::ok);
}

TEST(TargetHandshakeTest, DoesNotDropWhoSaidHello) {
  TargetProcess target({"--export", "disk=memory:1M", "--handshake-timeout", "0.3"});
  EventWaiter waiter;
  RawInitiator silent(waiter, target.address());
  RawInitiator greeted(waiter, target.address());
  greeted.hello();
  silent.wait_until_disconnected();  // so the time is over
  EXPECT_EQ(greeted.request(MessageType::keepalive, protocol::Empty{}).header.status, Status::ok);
}

}  // namespace
}  // namespace rdmablk::testing
