// Those who come back: sessions that resume, queues of later epochs, leases, and what is fenced
// before any of it is answered.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>
#include <string>
#include <thread>

#include "event_waiter.h"
#include "file_client.h"
#include "raw_initiator.h"
#include "raw_queue.h"
#include "slow_disk.h"
#include "target_process.h"

namespace rdmablk::testing {
namespace {

using protocol::Access;
using protocol::Attach;
using protocol::MessageType;
using protocol::Status;
using ::testing::HasSubstr;

constexpr protocol::InstanceId kInstance{std::byte{42}};
constexpr std::size_t kBytes = 4096;

Attach comes_back_with(const protocol::AttachReply& before) {
  Attach request = attach_request("disk", Access::read_write);
  request.generation = before.generation;
  request.lease = before.lease;
  return request;
}

Attach takes_over() {
  Attach request = attach_request("disk", Access::read_write);
  request.flags = Attach::kTakeOver;
  return request;
}

/// An attachment of a memory export, with a queue.
struct Attached {
  Attached(EventWaiter& waiter, RawInitiator& initiator, const SocketAddress& target,
           const Attach& request = attach_request("disk", Access::read_write))
      : reply(granted(initiator, request)),
        queue(waiter, target, queue_request(reply).encode()),
        chunk(queue.read_table(reply.table).front()) {}

  static protocol::AttachReply granted(RawInitiator& initiator, const Attach& request) {
    const auto received = initiator.request(MessageType::attach, request);
    EXPECT_EQ(received.header.status, Status::ok) << received.reason();
    return protocol::AttachReply::decode(received.payload).value();
  }

  ibv_wc_status write(char what) {
    std::ranges::fill(queue.buffer(), static_cast<std::byte>(what));
    return queue.write(chunk.address, chunk.rkey, kBytes);
  }

  /// The first byte of the export.
  char content() {
    EXPECT_EQ(queue.read(chunk.address, chunk.rkey, kBytes), IBV_WC_SUCCESS);
    return static_cast<char>(queue.buffer()[0]);
  }

  protocol::AttachReply reply;
  RawQueue queue;
  protocol::ChunkEntry chunk;
};

class TargetRecoveryTest : public ::testing::Test {
 protected:
  void TearDown() override { target_.show_log_if_failed(); }

  RawInitiator& greeted(std::optional<RawInitiator>& initiator,
                        const protocol::InstanceId& instance = {}) {
    initiator.emplace(waiter_, target_.address());
    initiator->hello(instance);
    return *initiator;
  }

  TargetProcess target_{{"--export", "disk=memory:1M"}};
  EventWaiter waiter_;
  std::optional<RawInitiator> first_;
  std::optional<RawInitiator> second_;
};

TEST_F(TargetRecoveryTest, AResumedSessionFindsTheOldOneGone) {
  Attached old(waiter_, greeted(first_, kInstance), target_.address());
  ASSERT_EQ(old.write('a'), IBV_WC_SUCCESS);
  greeted(second_, kInstance);
  // Nobody has told the old queue's end yet: the device must refuse.
  EXPECT_NE(old.write('b'), IBV_WC_SUCCESS);
  Attached again(waiter_, *second_, target_.address(), comes_back_with(old.reply));
  EXPECT_EQ(again.reply.lease, old.reply.lease);
  EXPECT_EQ(again.reply.generation, old.reply.generation);
  EXPECT_NE(again.reply.attachment, old.reply.attachment);
  EXPECT_EQ(again.content(), 'a');
  first_->wait_until_disconnected();
}

TEST_F(TargetRecoveryTest, AnotherInstanceEndsNobody) {
  greeted(first_, kInstance);
  greeted(second_);
  EXPECT_EQ(first_->request(MessageType::keepalive, protocol::Empty{}).header.status, Status::ok);
}

TEST_F(TargetRecoveryTest, TakingOverKeepsTheOldHolderFromWriting) {
  Attached old(waiter_, greeted(first_), target_.address());
  ASSERT_EQ(old.write('a'), IBV_WC_SUCCESS);
  Attached taken(waiter_, greeted(second_), target_.address(), takes_over());
  EXPECT_GT(taken.reply.lease, old.reply.lease);
  EXPECT_NE(old.write('b'), IBV_WC_SUCCESS);
  EXPECT_EQ(taken.content(), 'a');
  // Its session lives on, but the attachment does not, and it cannot come back.
  auto next = queue_request(old.reply);
  ++next.epoch;
  const RawQueue late(waiter_, target_.address(), next.encode());
  ASSERT_TRUE(late.refusal());
  EXPECT_EQ(late.refusal()->status, Status::no_attachment);
  const auto back = first_->request(MessageType::attach, comes_back_with(old.reply));
  EXPECT_EQ(back.header.status, Status::fenced);
  EXPECT_THAT(back.reason(), HasSubstr("held for writing by "));
  EXPECT_EQ(taken.write('c'), IBV_WC_SUCCESS);
}

TEST_F(TargetRecoveryTest, OneWriterAtATime) {
  const Attached holder(waiter_, greeted(first_), target_.address());
  greeted(second_);
  const auto refused =
      second_->request(MessageType::attach, attach_request("disk", Access::read_write));
  EXPECT_EQ(refused.header.status, Status::busy);
  EXPECT_THAT(refused.reason(), HasSubstr("export 'disk' is held for writing by "));
  EXPECT_EQ(second_->attach("disk", Access::read_only).lease, 0U);
}

TEST_F(TargetRecoveryTest, TheNextWriterWaitsForOneWhoIsLeaving) {
  const Attached holder(waiter_, greeted(first_), target_.address());
  greeted(second_);
  second_->send({MessageType::attach, false, Status::ok, 7},
                attach_request("disk", Access::read_write));
  // It is asked before the holder leaves: the answer to what comes behind it shows that.
  EXPECT_EQ(second_->request(MessageType::keepalive, protocol::Empty{}).header.type,
            MessageType::keepalive);
  first_->request(MessageType::detach, protocol::Detach{holder.reply.attachment});
  const auto received = second_->receive();
  EXPECT_EQ(received.header.tag, 7U);
  EXPECT_EQ(received.header.status, Status::ok) << received.reason();
}

TEST_F(TargetRecoveryTest, CountsWhatItHasAndLeaksNothing) {
  std::string before;
  for (int round = 0; round < 4; ++round) {
    const Attached holder(waiter_, greeted(first_), target_.address());
    EXPECT_THAT(target_.counts(),
                HasSubstr("sessions=1 attachments=1 io_queues=1 draining=0 queue_pairs=2 "));
    first_->request(MessageType::detach, protocol::Detach{holder.reply.attachment});
    first_.reset();
    std::string after = target_.counts();
    while (after.find(" sessions=0 ") == std::string::npos) after = target_.counts();
    EXPECT_THAT(after, HasSubstr("attachments=0 io_queues=0 draining=0 queue_pairs=0 "));
    EXPECT_THAT(after, HasSubstr(" leases=0"));
    if (round == 0) before = after;  // what is made once is there
    EXPECT_EQ(after, before);
  }
}

TEST(TargetEvictionTest, ASilentSessionLosesItsLease) {
  TargetProcess target({"--export", "disk=memory:1M", "--keepalive", "0.5"});
  EventWaiter waiter;
  RawInitiator silent(waiter, target.address());
  EXPECT_EQ(silent.hello().keepalive_ms, 500U);
  Attached holder(waiter, silent, target.address());
  RawInitiator talking(waiter, target.address());
  talking.hello();
  Received answer;
  do {
    // As long as it waits, too, it says something.
    talking.send({MessageType::attach, false, Status::ok, 1},
                 attach_request("disk", Access::read_write));
    do {
      talking.send({MessageType::keepalive, false, Status::ok, 2}, protocol::Empty{});
      answer = talking.receive();
    } while (answer.header.tag != 1);
    while (answer.header.status != Status::ok && talking.receive().header.tag != 2) {
    }
  } while (answer.header.status == Status::busy);
  EXPECT_EQ(answer.header.status, Status::ok) << answer.reason();
  EXPECT_NE(holder.write('x'), IBV_WC_SUCCESS);
  EXPECT_THAT(silent.receive().reason(), HasSubstr("nothing was heard"));
  silent.wait_until_disconnected();
  target.show_log_if_failed();
}

TEST(TargetLimitTest, SilentStrangersGiveWay) {
  TargetProcess target(
      {"--export", "disk=memory:1M", "--handshake-timeout", "600", "--max-handshakes", "2"});
  EventWaiter waiter;
  RawInitiator oldest(waiter, target.address());
  RawInitiator other(waiter, target.address());
  std::optional<RawInitiator> newcomer;
  while (!newcomer) {
    try {
      newcomer.emplace(waiter, target.address());
    } catch (const Error& error) {
      ASSERT_THAT(error.what(), HasSubstr("the target is setting up"));
      std::this_thread::sleep_for(std::chrono::milliseconds(50));  // each is a line of the log
    }
  }
  newcomer->hello();
  oldest.wait_until_disconnected();
  other.hello();
  target.show_log_if_failed();
}

TEST(TargetLimitTest, AClientHasSoManySessions) {
  TargetProcess target({"--export", "disk=memory:1M", "--max-client-sessions", "1"});
  EventWaiter waiter;
  RawInitiator first(waiter, target.address());
  first.hello(kInstance);
  RawInitiator second(waiter, target.address());
  EXPECT_THROW(second.hello(), Error);
  second.wait_until_disconnected();
  RawInitiator resumed(waiter, target.address());
  resumed.hello(kInstance);
  first.wait_until_disconnected();
}

TEST(TargetLimitTest, ASessionHasSoManyQueues) {
  TargetProcess target({"--export", "disk=memory:1M", "--max-session-queues", "1"});
  EventWaiter waiter;
  RawInitiator initiator(waiter, target.address());
  initiator.hello();
  const auto attached = initiator.attach("disk", Access::read_write, 2);
  std::optional<RawQueue> first(std::in_place, waiter, target.address(),
                                queue_request(attached, 0).encode());
  ASSERT_TRUE(first->connected());
  const RawQueue second(waiter, target.address(), queue_request(attached, 1).encode());
  ASSERT_TRUE(second.refusal());
  EXPECT_EQ(second.refusal()->status, Status::limit);
}

TEST(TargetLimitTest, AClientHasSoManyQueuesInAllItsSessions) {
  TargetProcess target({"--export", "disk=memory:1M", "--max-client-queues", "1"});
  EventWaiter waiter;
  RawInitiator initiator(waiter, target.address());
  initiator.hello();
  const auto attached = initiator.attach("disk", Access::read_only);
  RawInitiator another(waiter, target.address());
  another.hello();
  const auto request = queue_request(another.attach("disk", Access::read_only));
  {
    const RawQueue first(waiter, target.address(), queue_request(attached).encode());
    ASSERT_TRUE(first.connected());
    const RawQueue second(waiter, target.address(), request.encode());
    ASSERT_TRUE(second.refusal());
    EXPECT_EQ(second.refusal()->status, Status::limit);
    EXPECT_THAT(second.refusal()->text, HasSubstr("(--max-client-queues)"));
  }
  while (target.counts().find(" io_queues=0 draining=0 ") == std::string::npos) {
  }
  auto next = request;
  ++next.epoch;
  const RawQueue second(waiter, target.address(), next.encode());
  EXPECT_TRUE(second.connected());
  target.show_log_if_failed();
}

TEST(TargetLimitTest, WhoTalksTooMuchIsHeardLater) {
  TargetProcess target({"--export", "disk=memory:1M", "--admin-rate", "5"});
  EventWaiter waiter;
  RawInitiator initiator(waiter, target.address());
  const auto start = std::chrono::steady_clock::now();
  initiator.hello();
  for (std::uint64_t tag = 0; tag < protocol::kAdminCredits; ++tag) {
    initiator.send({MessageType::keepalive, false, Status::ok, tag}, protocol::Empty{});
  }
  for (std::uint64_t tag = 0; tag < protocol::kAdminCredits; ++tag) {
    EXPECT_EQ(initiator.receive().header.tag, tag) << "nothing is lost";
  }
  // Nine messages, five of them at once.
  EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(750));
}

TEST(TargetRestartTest, AKilledTargetLeavesNothingInTheWayOfTheNext) {
  const target::ScratchDirectory scratch;
  const std::string spec = "disk=file:" + scratch.make("disk.img", 1 << 20);
  std::optional<TargetProcess> target(std::in_place, std::vector<std::string>{"--export", spec});
  const SocketAddress address = target->address();
  for (int round = 0; round < 5; ++round) {
    EventWaiter waiter;
    FileClient client(waiter, address);
    client.open();
    ASSERT_TRUE(client.queue().send(client.one_a_slot(MessageType::write)));
    target->kill();
    target.emplace(std::vector<std::string>{"--export", spec}, target->host_port().port);
    EXPECT_EQ(target->address().text(), address.text());
  }
}

/// A file that takes its time.
class TargetDrainTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kSize = 1 << 20;
  static constexpr std::chrono::milliseconds kSlow{700};

  void SetUp() override {
    if (!SlowDisk::is_possible()) GTEST_SKIP() << "there is no FUSE for this user";
    disk_.emplace(kSize);
    start({});
  }
  void TearDown() override {
    if (target_) target_->show_log_if_failed();
    target_.reset();
  }

  void start(std::vector<std::string> arguments) {
    target_.reset();
    arguments.insert(arguments.end(), {"--export", "disk=file:" + disk_->path() + ",direct=off"});
    target_.emplace(arguments);
  }

  /// Has the target begin a write that will last.
  void begin_write(FileClient& client) {
    disk_->delay_writes(kSlow);
    const Command write = command(MessageType::write, 0, {0, 4096, 0, 0});
    EXPECT_TRUE(client.queue().send({&write, 1}));
    disk_->wait_for_write();
    EXPECT_FALSE(disk_->is_written());
  }

  std::optional<SlowDisk> disk_;
  std::optional<TargetProcess> target_;
  EventWaiter waiter_;
};

TEST_F(TargetDrainTest, AResumedSessionIsGreetedWhenTheOldWriteIsThrough) {
  FileClient client(waiter_, target_->address(), kInstance);
  client.open();
  begin_write(client);
  RawInitiator resumed(waiter_, target_->address());
  resumed.hello(kInstance);
  EXPECT_TRUE(disk_->is_written());
  EXPECT_NE(resumed.attach("disk", Access::read_write).lease, 0U);
}

TEST_F(TargetDrainTest, SoItIsWhenTheOldOneIsGoneAlready) {
  std::optional<FileClient> client(std::in_place, waiter_, target_->address(), kInstance);
  client->open();
  begin_write(*client);
  client.reset();
  RawInitiator resumed(waiter_, target_->address());
  resumed.hello(kInstance);
  EXPECT_TRUE(disk_->is_written());
}

TEST_F(TargetDrainTest, ALaterConnectionOfAQueueIsAcceptedWhenTheOldWriteIsThrough) {
  FileClient client(waiter_, target_->address());
  client.open();
  begin_write(client);
  ASSERT_TRUE(client.connect());
  EXPECT_TRUE(disk_->is_written());
  client.open();
  EXPECT_EQ(client.ask(MessageType::read, {0, 4096, 0, 0}), Status::ok);
}

TEST_F(TargetDrainTest, ALeaseIsTakenOverWhenTheOldWriteIsThrough) {
  FileClient client(waiter_, target_->address());
  client.open();
  begin_write(client);
  RawInitiator taker(waiter_, target_->address());
  taker.hello();
  const auto taken = taker.request(MessageType::attach, takes_over());
  EXPECT_EQ(taken.header.status, Status::ok) << taken.reason();
  EXPECT_TRUE(disk_->is_written());
}

TEST_F(TargetDrainTest, WhoWaitsTooLongIsTold) {
  start({"--handshake-timeout", "0.2"});
  FileClient client(waiter_, target_->address(), kInstance);
  client.open();
  begin_write(client);
  RawInitiator resumed(waiter_, target_->address());
  protocol::Hello hello;
  hello.instance = kInstance;
  hello.version_min = hello.version_max = protocol::kVersion;
  const auto received = resumed.request(MessageType::hello, hello);
  EXPECT_EQ(received.header.type, MessageType::error);
  EXPECT_THAT(received.reason(), HasSubstr("has not ended in time"));
}

}  // namespace
}  // namespace rdmablk::testing
