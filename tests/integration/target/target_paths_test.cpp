// I/O queues over another device of the target than that of their session.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <optional>

#include "common/verbs/context.h"
#include "event_waiter.h"
#include "raw_initiator.h"
#include "raw_queue.h"
#include "target_process.h"
#include "tests/unit/target/scratch_directory.h"

namespace rdmablk::testing {
namespace {

using protocol::Access;
using protocol::Feature;
using protocol::Features;
using protocol::MessageType;
using protocol::Status;
using ::testing::HasSubstr;

// The software device has two of them then, and an address of this host belongs to one or the
// other.
[[maybe_unused]] const int kEnvironment = setenv("SOFTVERBS_DEVICES", "2", 1);

constexpr std::size_t kBytes = 4096;

std::string address_of(const char* variable, const char* otherwise) {
  const char* const value = std::getenv(variable);
  return value != nullptr ? value : otherwise;
}

std::string near_host() {
  return address_of("RDMABLK_TEST_ADDRESS", "127.0.0.1");
}

std::string far_host() {
  return address_of("RDMABLK_TEST_ADDRESS_1", "127.0.0.2");
}

/// Why this cannot be tried here; null when it can.
const char* lacks_devices() {
  const bool is_guest = std::getenv("RDMABLK_IN_VM") != nullptr;
  const bool has_two = std::getenv("RDMABLK_TEST_ADDRESS_1") != nullptr;
  return is_guest && !has_two ? "it takes two devices: scripts/vm --links 2" : nullptr;
}

SocketAddress at(const std::string& host, std::uint16_t port) {
  return resolve({host, port}).front();
}

void fill(std::span<std::byte> bytes, unsigned seed) {
  for (std::byte& byte : bytes)
    byte = static_cast<std::byte>((seed = seed * 1103515245U + 12345U) >> 16U);
}

class TargetPathsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (const char* const reason = lacks_devices()) GTEST_SKIP() << reason;
    protocol::Hello hello;
    hello.version_min = hello.version_max = protocol::kVersion;
    hello.features = features_;
    ASSERT_EQ(initiator_.request(MessageType::hello, hello).header.status, Status::ok);
  }
  void TearDown() override { target_.show_log_if_failed(); }

  static std::vector<std::string> arguments(const target::ScratchDirectory& directory) {
    const std::string file = directory.path("image");
    std::ofstream(file) << std::string(1 << 20, 'f');
    return {"--listen", "0.0.0.0:0",
            "--export", "disk=memory:1M,chunk=64K,shared",
            "--export", "file=file:" + file + ",readonly",
            "--export", "kept=file:" + file + ",resident,readonly"};
  }

  RawQueue connect(const protocol::AttachReply& attachment, const SocketAddress& where,
                   std::uint16_t queue = 0) {
    return {waiter_, where, queue_request(attachment, queue).encode()};
  }

  Received ask(const protocol::Table& question) {
    return initiator_.request(MessageType::table, question);
  }

  protocol::ChunkTable table_of(const protocol::AttachReply& attachment, std::uint16_t queue = 0) {
    const auto answer = ask({attachment.attachment, attachment.table.number, queue});
    EXPECT_EQ(answer.header.status, Status::ok) << answer.reason();
    const auto reply = protocol::TableReply::decode(answer.payload);
    EXPECT_TRUE(reply);
    return reply ? reply->table : protocol::ChunkTable{};
  }

  Features features_{Feature::paths};
  target::ScratchDirectory directory_;
  TargetProcess target_{arguments(directory_)};
  SocketAddress near_ = at(near_host(), target_.address().port());
  SocketAddress far_ = at(far_host(), target_.address().port());
  EventWaiter waiter_;
  RawInitiator initiator_{waiter_, near_};
};

TEST_F(TargetPathsTest, QueuesOfAllDevicesReachTheSameBytes) {
  const auto attachment = initiator_.attach("disk", Access::read_write, 2);
  RawQueue there = connect(attachment, far_, 0);
  RawQueue here = connect(attachment, near_, 1);
  ASSERT_FALSE(there.refusal()) << there.refusal()->text;
  ASSERT_FALSE(here.refusal()) << here.refusal()->text;
  const auto table = table_of(attachment, 0);
  EXPECT_EQ(table.number, attachment.table.number);
  const auto chunks = there.read_table(table);
  ASSERT_EQ(chunks.size(), 16U);
  std::vector<std::byte> pattern(kBytes);
  fill(pattern, 1);
  std::copy(pattern.begin(), pattern.end(), there.buffer().begin());
  ASSERT_EQ(there.write(chunks[3].address + 512, chunks[3].rkey, kBytes), IBV_WC_SUCCESS);
  const auto known = here.read_table(attachment.table);
  ASSERT_EQ(here.read(known[3].address + 512, known[3].rkey, kBytes), IBV_WC_SUCCESS);
  EXPECT_TRUE(std::equal(pattern.begin(), pattern.end(), here.buffer().begin()));
}

TEST_F(TargetPathsTest, RegistersWithADeviceWhenItIsWantedThere) {
  const auto attachment = initiator_.attach("disk", Access::read_write);
  target_.wait_for_log("export 'disk': registered with ");
  const std::string before = target_.log();
  EXPECT_THAT(before, ::testing::Not(HasSubstr("export 'kept': registered")));
  const RawQueue there = connect(attachment, far_);
  ASSERT_FALSE(there.refusal()) << there.refusal()->text;
  target_.wait_for_line("export 'disk': registered with ");
  target_.wait_for_line("export 'disk': registered with ");
}

TEST_F(TargetPathsTest, TellsTheTableOfItsOwnDeviceAsAttachDid) {
  const auto attachment = initiator_.attach("disk", Access::read_write);
  const RawQueue here = connect(attachment, near_);
  ASSERT_FALSE(here.refusal());
  const auto table = table_of(attachment);
  EXPECT_EQ(table.address, attachment.table.address);
  EXPECT_EQ(table.rkey, attachment.table.rkey);
  EXPECT_EQ(table.count, attachment.table.count);
  EXPECT_EQ(table.chunk_size, attachment.table.chunk_size);
}

TEST_F(TargetPathsTest, AReadOnlyQueueCannotWriteOverAnyDevice) {
  const auto writer = initiator_.attach("disk", Access::read_write);
  RawQueue writes = connect(writer, far_);
  const auto writable = writes.read_table(table_of(writer));
  const auto reader = initiator_.attach("disk", Access::read_only);
  RawQueue reads = connect(reader, far_);
  const auto readable = reads.read_table(table_of(reader));
  EXPECT_EQ(reads.read(readable[0].address, readable[0].rkey, 512), IBV_WC_SUCCESS);
  if (reads.is_iwarp()) {
    EXPECT_NE(reads.write(writable[0].address, writable[0].rkey, 512), IBV_WC_SUCCESS);
  } else {
    EXPECT_EQ(reads.write(writable[0].address, writable[0].rkey, 512), IBV_WC_REM_ACCESS_ERR);
  }
}

TEST_F(TargetPathsTest, ServesFilesOverAnyDevice) {
  const auto attachment = initiator_.attach("file", Access::read_only);
  RawQueue there = connect(attachment, far_);
  ASSERT_FALSE(there.refusal()) << there.refusal()->text;
  const auto opened = there.request(MessageType::queue, 0, {});
  ASSERT_TRUE(opened);
  const auto slots = protocol::QueueReply::decode(opened->payload);
  ASSERT_TRUE(slots);
  const Command read = command(MessageType::read, 0, {0, 512, 0, 0});
  const auto answer = there.request(MessageType::read, 0, read.payload);
  ASSERT_TRUE(answer);
  ASSERT_EQ(answer->header.status, Status::ok);
  ASSERT_EQ(there.read(slots->address, slots->rkey, 512), IBV_WC_SUCCESS);
  EXPECT_EQ(static_cast<char>(there.buffer()[511]), 'f');
}

TEST_F(TargetPathsTest, ServesResidentFilesOverAnyDevice) {
  const auto attachment = initiator_.attach("kept", Access::read_only);
  RawQueue there = connect(attachment, far_);
  ASSERT_FALSE(there.refusal()) << there.refusal()->text;
  const auto chunks = there.read_table(table_of(attachment));
  ASSERT_EQ(there.read(chunks[0].address, chunks[0].rkey, 512), IBV_WC_SUCCESS);
  EXPECT_EQ(static_cast<char>(there.buffer()[511]), 'f');
}

TEST_F(TargetPathsTest, RefusesQuestionsThatHaveNoAnswer) {
  const auto attachment = initiator_.attach("disk", Access::read_write, 2);
  const auto number = attachment.table.number;
  EXPECT_EQ(ask({attachment.attachment, number, 0}).header.status, Status::no_attachment);
  const RawQueue there = connect(attachment, far_);
  ASSERT_FALSE(there.refusal());
  EXPECT_EQ(ask({attachment.attachment, number, 1}).header.status, Status::no_attachment);
  EXPECT_EQ(ask({attachment.attachment + 1, number, 0}).header.status, Status::no_attachment);
  EXPECT_EQ(ask({attachment.attachment, number + 1, 0}).header.status, Status::stale);
  EXPECT_EQ(ask({attachment.attachment, 0, 0}).header.status, Status::stale);
  const auto file = initiator_.attach("file", Access::read_only);
  EXPECT_EQ(ask({file.attachment, 0, 0}).header.status, Status::not_supported);
}

TEST_F(TargetPathsTest, SessionsMayComeOverAnyDevice) {
  RawInitiator other(waiter_, far_);
  other.hello();
  const auto attachment = other.attach("disk", Access::read_write);
  RawQueue queue = connect(attachment, far_);
  ASSERT_FALSE(queue.refusal()) << queue.refusal()->text;
  EXPECT_EQ(queue.read_table(attachment.table).size(), 16U);
}

/// Exports that get another size while they are used over two devices.
class ResizedPathsTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kChunk = 64 << 10;

  void SetUp() override {
    if (const char* const reason = lacks_devices()) GTEST_SKIP() << reason;
    target_.emplace(std::vector<std::string>{"--listen", "0.0.0.0:0", "--keepalive", "0",
                                             "--export", "disk=memory:256K,chunk=64K"},
                    0, "rdmablk-commanded-target");
    const auto port = target_->address().port();
    initiator_.emplace(waiter_, at(near_host(), port));
    protocol::Hello hello;
    hello.version_min = hello.version_max = protocol::kVersion;
    hello.features = {Feature::paths, Feature::resize};
    ASSERT_EQ(initiator_->request(MessageType::hello, hello).header.status, Status::ok);
    attachment_ = initiator_->attach("disk", Access::read_write);
    queue_.emplace(waiter_, at(far_host(), port), queue_request(attachment_).encode());
    ASSERT_FALSE(queue_->refusal()) << queue_->refusal()->text;
  }
  void TearDown() override {
    if (target_) target_->show_log_if_failed();
  }

  Received ask(std::uint64_t number) {
    return initiator_->request(MessageType::table,
                               protocol::Table{attachment_.attachment, number, 0});
  }
  std::vector<protocol::ChunkEntry> table(std::uint64_t number) {
    const auto answer = ask(number);
    EXPECT_EQ(answer.header.status, Status::ok) << answer.reason();
    return queue_->read_table(protocol::TableReply::decode(answer.payload).value().table);
  }

  void begin_resize(std::uint64_t size) {
    target_->write_input("resize disk " + std::to_string(size) + "\n");
  }
  protocol::EventNotice receive_notice() {
    const auto received = initiator_->receive();
    EXPECT_EQ(received.header.type, MessageType::event);
    tag_ = received.header.tag;
    return protocol::EventNotice::decode(received.payload).value();
  }
  void acknowledge() {
    initiator_->send({MessageType::event, true, Status::ok, tag_}, protocol::Empty{});
  }
  std::string answer() { return target_->wait_for_line("resize disk: "); }

  std::optional<TargetProcess> target_;
  EventWaiter waiter_;
  std::optional<RawInitiator> initiator_;
  protocol::AttachReply attachment_;
  std::optional<RawQueue> queue_;
  std::uint64_t tag_ = 0;
};

TEST_F(ResizedPathsTest, ShrinksOverAllDevicesWhenItIsAcknowledged) {
  const auto old = table(attachment_.table.number);
  ASSERT_EQ(old.size(), 4U);
  begin_resize(2 * kChunk);
  const auto notice = receive_notice();
  ASSERT_EQ(notice.kind, protocol::EventKind::resized);
  EXPECT_EQ(table(attachment_.table.number).size(), 4U) << "until it is acknowledged";
  const auto now = table(notice.table.number);
  EXPECT_EQ(now.size(), 2U);
  ASSERT_EQ(queue_->read(old[3].address, old[3].rkey, 512), IBV_WC_SUCCESS);
  acknowledge();
  EXPECT_EQ(answer(), "done");
  EXPECT_EQ(ask(attachment_.table.number).header.status, Status::stale);
  ASSERT_EQ(queue_->read(now[1].address, now[1].rkey, 512), IBV_WC_SUCCESS);
  EXPECT_NE(queue_->read(old[3].address, old[3].rkey, 512), IBV_WC_SUCCESS);
}

TEST_F(ResizedPathsTest, GrowsOverAllDevices) {
  begin_resize(6 * kChunk);
  const auto notice = receive_notice();
  const auto now = table(notice.table.number);
  ASSERT_EQ(now.size(), 6U);
  ASSERT_EQ(queue_->write(now[5].address, now[5].rkey, kChunk), IBV_WC_SUCCESS);
  acknowledge();
  EXPECT_EQ(answer(), "done");
  ASSERT_EQ(queue_->read(now[5].address, now[5].rkey, kChunk), IBV_WC_SUCCESS);
}

/// An initiator that does not know the feature.
class TargetWithoutPathsTest : public TargetPathsTest {
 protected:
  TargetWithoutPathsTest() { features_ = {}; }
};

TEST_F(TargetWithoutPathsTest, QueuesComeOverTheDeviceOfTheirSession) {
  const auto attachment = initiator_.attach("disk", Access::read_write);
  const RawQueue there = connect(attachment, far_);
  ASSERT_TRUE(there.refusal());
  EXPECT_EQ(there.refusal()->status, Status::not_supported);
  const RawQueue here = connect(attachment, near_);
  EXPECT_FALSE(here.refusal());
  EXPECT_EQ(ask({attachment.attachment, attachment.table.number, 0}).header.status,
            Status::not_supported);
}

}  // namespace
}  // namespace rdmablk::testing
