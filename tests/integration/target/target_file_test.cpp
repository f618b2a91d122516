// The I/O queues of a file export, and what a peer cannot do to others over them.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>

#include "file_client.h"
#include "target_process.h"
#include "tests/unit/target/scratch_directory.h"

namespace rdmablk::testing {
namespace {

using protocol::Access;
using protocol::IoRequest;
using protocol::MessageType;
using protocol::Status;

constexpr std::uint64_t kSize = 8 << 20;

class TargetFileTest : public ::testing::Test {
 protected:
  void TearDown() override { target_.show_log_if_failed(); }

  /// The device refuses: by a status, unless the target, whose queue pair failed with it, has
  /// disconnected before that was told. An iWARP WRITE ends the queue.
  static void expect_refused(const RawQueue& queue, ibv_wc_status status) {
    if (queue.is_iwarp()) {
      EXPECT_NE(status, IBV_WC_SUCCESS);
    } else {
      EXPECT_TRUE(status == IBV_WC_REM_ACCESS_ERR || status == IBV_WC_WR_FLUSH_ERR) << status;
    }
  }

  target::ScratchDirectory scratch_;
  TargetProcess target_{{"--export", "disk=file:" + scratch_.make("disk.img", kSize) + ",shared",
                         "--slot-memory", "64M"}};
  EventWaiter waiter_;
};

/// Something that a peer must not do over an open queue.
struct Violation {
  const char* name;
  std::function<void(RawQueue&)> commit;
};

void send(RawQueue& queue, const Command& command) {
  queue.send({&command, 1});
}

std::vector<Violation> violations() {
  const auto of = [](MessageType type, const IoRequest& request, std::uint64_t slot = 1) {
    return [=](RawQueue& queue) { send(queue, command(type, slot, request)); };
  };
  return {
      {"QUEUE twice",
       [](RawQueue& queue) {
         send(queue, {MessageType::queue, 0, {}});
       }},
      {"QUEUE twice, with a payload", of(MessageType::queue, {})},
      {"a reply",
       [](RawQueue& queue) {
         auto reply = command(MessageType::read, 1, {0, 512, 0, 0});
         reply.is_reply = true;
         send(queue, reply);
       }},
      {"LIST", of(MessageType::list, {0, 512, 0, 0})},
      {"an unknown type", of(MessageType{999}, {0, 512, 0, 0})},
      {"a slot that there is not", of(MessageType::read, {0, 512, 0, 0}, 32)},
      {"a slot far away", of(MessageType::read, {0, 512, 0, 0}, UINT64_MAX)},
      {"a READ longer than a slot", of(MessageType::read, {0, (128 << 10) + 1, 0, 0})},
      {"a WRITE longer than a slot", of(MessageType::write, {0, 1 << 20, 0, 0})},
      {"a READ behind the end", of(MessageType::read, {kSize - 512, 513, 0, 0})},
      {"a ZERO around the end of numbers", of(MessageType::zero, {512, UINT64_MAX, 0, 0})},
      {"a MAP of nothing", of(MessageType::map, {0, 0, 0, 1})},
      {"unknown flags", of(MessageType::write, {0, 512, 64, 0})},
      {"a FLUSH with a range",
       [](RawQueue& queue) {
         send(queue, command(MessageType::flush, 1, {}, {{0, 512}}));
       }},
      {"half a request",
       [](RawQueue& queue) {
         auto half = command(MessageType::read, 1, {0, 512, 0, 0});
         half.payload.resize(12);
         send(queue, half);
       }},
      {"no message", [](RawQueue& queue) { queue.send_bytes(100); }},
      {"an empty message", [](RawQueue& queue) { queue.send_bytes(0); }},
      {"a busy slot",
       [](RawQueue& queue) {
         const std::vector<Command> many(
             30, command(MessageType::zero, 1, {0, kSize, IoRequest::kDurable, 0}));
         queue.send(many);
       }},
  };
}

TEST_F(TargetFileTest, AViolationEndsItsSessionAndNothingElse) {
  FileClient bystander(waiter_, target_.address());
  bystander.open();
  for (const Violation& violation : violations()) {
    SCOPED_TRACE(violation.name);
    FileClient peer(waiter_, target_.address());
    peer.open();
    violation.commit(peer.queue());
    const auto last_word = peer.initiator().receive();
    EXPECT_EQ(last_word.header.type, MessageType::error);
    EXPECT_EQ(last_word.header.status, Status::malformed);
    EXPECT_FALSE(last_word.reason().empty());
    peer.queue().wait_until_disconnected();
    EXPECT_EQ(bystander.ask(MessageType::read, {0, 4096, 0, 0}), Status::ok);
  }
}

TEST_F(TargetFileTest, ARequestBeforeQueueEndsTheSession) {
  FileClient peer(waiter_, target_.address());
  EXPECT_FALSE(peer.ask(MessageType::read, {0, 512, 0, 0}));
  EXPECT_EQ(peer.initiator().receive().reason(), "QUEUE must come first on an I/O queue");
}

TEST_F(TargetFileTest, AnImmediateValueIsNoMessage) {
  FileClient peer(waiter_, target_.address());
  if (peer.queue().is_iwarp()) GTEST_SKIP() << "iWARP has no immediate values";
  // The receive that it takes may hold an old request still.
  for (int i = 0; i < 40 && peer.queue().connected(); ++i) peer.queue().send_immediate();
  EXPECT_NE(peer.initiator().receive().reason().find("immediate value"), std::string::npos);
  peer.queue().wait_until_disconnected();
}

TEST_F(TargetFileTest, AMessageThatFitsNoReceiveEndsTheQueue) {
  FileClient peer(waiter_, target_.address());
  peer.open();
  peer.queue().send_bytes(protocol::kMaxMessage + 1);
  peer.queue().wait_until_disconnected();
  EXPECT_EQ(peer.initiator().request(MessageType::keepalive, protocol::Empty{}).header.status,
            Status::ok);
}

TEST_F(TargetFileTest, NobodyReachesTheSlotsOfAnother) {
  FileClient owner(waiter_, target_.address());
  owner.open();
  std::ranges::fill(owner.queue().buffer(), std::byte{'x'});
  ASSERT_EQ(owner.queue().write(owner.slot_address(0), owner.slots().rkey, 4096), IBV_WC_SUCCESS);
  const auto try_both = [&](const std::function<void(FileClient&)>& prepare) {
    for (const bool writes : {false, true}) {
      FileClient peer(waiter_, target_.address());
      prepare(peer);
      RawQueue& queue = peer.queue();
      std::ranges::fill(queue.buffer(), std::byte{});
      expect_refused(queue, writes ? queue.write(owner.slot_address(0), owner.slots().rkey, 4096)
                                   : queue.read(owner.slot_address(0), owner.slots().rkey, 4096));
      EXPECT_EQ(queue.buffer()[0], std::byte{});
    }
  };
  try_both([](FileClient& peer) { peer.open(); });
  try_both([](FileClient&) {});
  std::ranges::fill(owner.queue().buffer(), std::byte{});
  ASSERT_EQ(owner.queue().read(owner.slot_address(0), owner.slots().rkey, 4096), IBV_WC_SUCCESS);
  EXPECT_EQ(owner.queue().buffer()[0], std::byte{'x'});
}

TEST_F(TargetFileTest, QueuesOfOneAttachmentHaveSlotsOfTheirOwn) {
  RawInitiator initiator(waiter_, target_.address());
  initiator.hello();
  const auto attached = initiator.attach("disk", Access::read_write, 2);
  RawQueue first(waiter_, target_.address(), queue_request(attached, 0).encode());
  RawQueue second(waiter_, target_.address(), queue_request(attached, 1).encode());
  const auto opened = first.request(MessageType::queue, 0, {});
  ASSERT_TRUE(opened);
  const auto slots = protocol::QueueReply::decode(opened->payload);
  ASSERT_TRUE(slots);
  expect_refused(second, second.read(slots->address, slots->rkey, 512));
  EXPECT_EQ(first.read(slots->address, slots->rkey, 512), IBV_WC_SUCCESS);
}

TEST_F(TargetFileTest, WhoMayOnlyReadWritesNowhere) {
  FileClient reader(waiter_, target_.address(), Access::read_only);
  reader.open();
  for (const auto type : {MessageType::write, MessageType::zero}) {
    EXPECT_EQ(reader.ask(type, {0, 4096, 0, 0}), Status::read_only);
    EXPECT_EQ(reader.ask(type, {0, 4096, IoRequest::kDurable, 0}), Status::read_only);
  }
  EXPECT_EQ(reader.ask(MessageType::flush, {}), Status::ok);
  EXPECT_EQ(reader.ask(MessageType::read, {0, 4096, 0, 0}), Status::ok);
  EXPECT_EQ(reader.queue().read(reader.slot_address(1), reader.slots().rkey, 4096), IBV_WC_SUCCESS);
  expect_refused(reader.queue(),
                 reader.queue().write(reader.slot_address(1), reader.slots().rkey, 4096));
}

/// Few of the answers have a completion, which tells of those before.
TEST_F(TargetFileTest, AnswersMoreRequestsOfASlotThanItsSendQueueHolds) {
  FileClient peer(waiter_, target_.address());
  peer.open();
  for (int i = 0; i < 500; ++i) {
    ASSERT_EQ(peer.ask(MessageType::read, {0, 512, 0, 0}), Status::ok) << i;
    ASSERT_EQ(peer.ask(MessageType::write, {0, 512, 0, 0}, 2), Status::ok) << i;
  }
}

TEST_F(TargetFileTest, AnInitiatorThatDiesWithWritesInFlightLeavesRoomForTheNext) {
  for (int round = 0; round < 5; ++round) {
    {
      FileClient dying(waiter_, target_.address());
      dying.open();
      ASSERT_TRUE(dying.queue().send(dying.one_a_slot(MessageType::write)));
    }
    FileClient next(waiter_, target_.address());
    next.open();
    ASSERT_EQ(next.slots().commands, 32U);
    ASSERT_EQ(next.ask(MessageType::write, {kSize / 2, 4096, 0, 0}), Status::ok);
    ASSERT_EQ(next.ask(MessageType::flush, {}), Status::ok);
  }
}

TEST_F(TargetFileTest, ALostQueueIsConnectedAnewOnceTheOldOneIsThrough) {
  FileClient client(waiter_, target_.address());
  for (int round = 0; round < 5; ++round) {
    client.open();
    ASSERT_TRUE(client.queue().send(client.one_a_slot(MessageType::write)));
    ASSERT_TRUE(client.connect());
  }
  client.open();
  EXPECT_EQ(client.ask(MessageType::read, {0, 4096, 0, 0}), Status::ok);
}

TEST_F(TargetFileTest, DetachesWithRequestsInFlight) {
  FileClient client(waiter_, target_.address());
  for (int round = 0; round < 5; ++round) {
    client.open();
    ASSERT_TRUE(client.queue().send(client.one_a_slot(MessageType::write)));
    const auto reply = client.initiator().request(MessageType::detach,
                                                  protocol::Detach{client.attachment().attachment});
    ASSERT_EQ(reply.header.type, MessageType::detach);
    ASSERT_EQ(reply.header.status, Status::ok);
    client.queue().wait_until_disconnected();
    ASSERT_TRUE(client.attach());
  }
}

TEST_F(TargetFileTest, WhoNeverTakesAnswersHoldsNobodyUp) {
  FileClient deaf(waiter_, target_.address());
  deaf.open();
  // Its receives are used up, and it posts no more.
  for (int round = 0; round < 2; ++round) {
    if (!deaf.queue().send(deaf.one_a_slot(MessageType::read))) break;
  }
  FileClient other(waiter_, target_.address());
  other.open();
  EXPECT_EQ(other.ask(MessageType::read, {0, 4096, 0, 0}), Status::ok);
  target_.terminate();
  EXPECT_EQ(target_.wait(), 0);
}

TEST_F(TargetFileTest, EndsWithRequestsInFlight) {
  FileClient client(waiter_, target_.address());
  client.open();
  ASSERT_TRUE(client.queue().send(client.one_a_slot(MessageType::write)));
  target_.terminate();
  EXPECT_EQ(target_.wait(), 0);
}

}  // namespace
}  // namespace rdmablk::testing
