// What a resident export's file gets to hold, and when.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <thread>

#include "common/protocol/io_messages.h"
#include "common/protocol/wire.h"
#include "common/unique_fd.h"
#include "event_waiter.h"
#include "raw_initiator.h"
#include "raw_queue.h"
#include "target_process.h"

namespace rdmablk::testing {
namespace {

using protocol::Access;
using protocol::IoRequest;
using protocol::MessageType;
using protocol::Range;
using protocol::Status;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kSize = 8 * kMiB;

/// A sparse file that goes away at the end.
class ScratchFile {
 public:
  ScratchFile() {
    std::string directory = ::testing::TempDir() + "/rdmablk-test-XXXXXX";
    EXPECT_NE(::mkdtemp(directory.data()), nullptr);
    directory_ = directory;
    fd_.reset(::open(path().c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    EXPECT_EQ(::ftruncate(fd_.get(), kSize), 0);
  }
  ~ScratchFile() {
    std::error_code ignored;
    std::filesystem::remove_all(directory_, ignored);
  }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;

  std::string path() const { return directory_ + "/disk.img"; }
  std::string read(std::uint64_t offset, std::size_t size) const {
    std::string text(size, '\0');
    EXPECT_EQ(::pread(fd_.get(), text.data(), size, static_cast<off_t>(offset)),
              static_cast<ssize_t>(size));
    return text;
  }
  void write(std::uint64_t offset, const std::string& text) const {
    EXPECT_EQ(::pwrite(fd_.get(), text.data(), text.size(), static_cast<off_t>(offset)),
              static_cast<ssize_t>(text.size()));
  }

 private:
  std::string directory_;
  UniqueFd fd_;
};

/// One session with one queue of the export.
class Client {
 public:
  Client(EventWaiter& waiter, const SocketAddress& target, Access access = Access::read_write)
      : initiator_(waiter, target) {
    initiator_.hello();
    attachment_ = initiator_.attach("disk", access);
    queue_.emplace(waiter, target, queue_request(attachment_).encode());
    chunks_ = queue_->read_table(attachment_.table);
  }

  const protocol::AttachReply& attachment() const { return attachment_; }
  RawQueue& queue() { return *queue_; }
  RawInitiator& initiator() { return initiator_; }

  void open() {
    const auto reply = queue_->request(MessageType::queue, 0, {});
    ASSERT_TRUE(reply);
    const auto opened = protocol::QueueReply::decode(reply->payload);
    ASSERT_TRUE(opened);
    EXPECT_EQ(opened->address, 0U);
    EXPECT_EQ(opened->rkey, 0U);
    EXPECT_EQ(opened->commands, protocol::kResidentCommands);
    EXPECT_EQ(opened->alignment, 1U);
  }
  void put(std::uint64_t offset, std::string_view text) {
    std::copy(text.begin(), text.end(), reinterpret_cast<char*>(queue_->buffer().data()));
    ASSERT_EQ(queue_->write(chunks_[0].address + offset, chunks_[0].rkey, text.size()),
              IBV_WC_SUCCESS);
    // The target's CPU sees it.
    ASSERT_EQ(queue_->read(chunks_[0].address + offset, chunks_[0].rkey, 1), IBV_WC_SUCCESS);
  }
  std::string get(std::uint64_t offset, std::size_t size) {
    EXPECT_EQ(queue_->read(chunks_[0].address + offset, chunks_[0].rkey, size), IBV_WC_SUCCESS);
    return {reinterpret_cast<const char*>(queue_->buffer().data()), size};
  }
  std::optional<Received> request(MessageType type, IoRequest request,
                                  std::initializer_list<Range> ranges = {}) {
    std::vector<std::byte> payload(protocol::kMaxMessage);
    protocol::WireWriter writer(payload);
    if (type == MessageType::flush) request.count = static_cast<std::uint32_t>(ranges.size());
    request.encode(writer);
    for (const Range& range : ranges) range.encode(writer);
    return queue_->request(type, 1, std::span(payload).first(writer.size()));
  }
  void flush(std::initializer_list<Range> ranges, std::uint32_t flags = 0) {
    IoRequest flush;
    flush.flags = flags;
    const auto reply = request(MessageType::flush, flush, ranges);
    ASSERT_TRUE(reply);
    EXPECT_EQ(reply->header.status, Status::ok);
    EXPECT_EQ(reply->header.tag, 1U);
  }

 private:
  RawInitiator initiator_;
  protocol::AttachReply attachment_;
  std::optional<RawQueue> queue_;
  std::vector<protocol::ChunkEntry> chunks_;
};

class TargetResidentTest : public ::testing::Test {
 protected:
  void TearDown() override { target_.show_log_if_failed(); }

  ScratchFile& loaded_file() {
    file_.write(kMiB, "from the file");
    return file_;
  }
  void wait_for_file(std::uint64_t offset, const std::string& text) {
    while (file_.read(offset, text.size()) != text) std::this_thread::yield();
  }

  ScratchFile file_;
  TargetProcess target_{{"--export", "disk=file:" + loaded_file().path() + ",resident"}};
  EventWaiter waiter_;
};

TEST_F(TargetResidentTest, ServesWhatTheFileHolds) {
  Client reader(waiter_, target_.address(), Access::read_only);
  EXPECT_EQ(reader.get(kMiB, 13), "from the file");
  EXPECT_EQ(reader.get(0, 2), std::string(2, '\0'));
}

TEST_F(TargetResidentTest, AFlushWritesItsRangesAndNothingElse) {
  Client client(waiter_, target_.address());
  client.open();
  client.put(0, "first");
  client.put(2 * kMiB - 2, "second");
  client.put(4 * kMiB, "third");
  client.flush({{0, 5}, {2 * kMiB - 2, 6}});
  EXPECT_EQ(file_.read(0, 5), "first");
  EXPECT_EQ(file_.read(2 * kMiB - 2, 6), "second");
  EXPECT_EQ(file_.read(4 * kMiB, 5), std::string(5, '\0'));
  EXPECT_EQ(file_.read(kMiB, 13), "from the file");
}

TEST_F(TargetResidentTest, AFlushOfTheWholeExportIsCutIntoPieces) {
  Client client(waiter_, target_.address());
  client.open();
  for (std::uint64_t offset = 1000; offset < kSize; offset += kMiB / 2) {
    client.put(offset, std::to_string(offset));
  }
  client.flush({{0, kSize}});
  for (std::uint64_t offset = 1000; offset < kSize; offset += kMiB / 2) {
    const std::string text = std::to_string(offset);
    EXPECT_EQ(file_.read(offset, text.size()), text);
  }
}

TEST_F(TargetResidentTest, AFlushMayComeInParts) {
  Client client(waiter_, target_.address());
  client.open();
  client.put(0, "one");
  client.put(3 * kMiB, "two");
  client.flush({{0, 3}}, IoRequest::kMore);
  EXPECT_EQ(file_.read(0, 3), "one");
  EXPECT_EQ(file_.read(3 * kMiB, 3), std::string(3, '\0'));
  client.flush({{3 * kMiB, 3}});
  EXPECT_EQ(file_.read(3 * kMiB, 3), "two");
  client.flush({});
}

TEST_F(TargetResidentTest, MapsEverythingAsData) {
  Client client(waiter_, target_.address());
  client.open();
  const auto reply = client.request(MessageType::map, {100, 2 * kMiB, 0, 10});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->header.status, Status::ok);
  std::vector<protocol::Extent> extents(protocol::kMaxExtents);
  ASSERT_EQ(protocol::decode_extents(reply->payload, extents), 1U);
  EXPECT_EQ(extents[0], (protocol::Extent{2 * kMiB, false}));
}

TEST_F(TargetResidentTest, ARangeOutsideEndsTheSession) {
  Client client(waiter_, target_.address());
  client.open();
  EXPECT_FALSE(client.request(MessageType::flush, {}, {{0, 512}, {kSize - 512, 513}}));
  const auto last_word = client.initiator().receive();
  EXPECT_EQ(last_word.header.type, MessageType::error);
  EXPECT_EQ(last_word.header.status, Status::malformed);
}

TEST_F(TargetResidentTest, RangesThatOverlapEndTheSession) {
  Client client(waiter_, target_.address());
  client.open();
  EXPECT_FALSE(client.request(MessageType::flush, {}, {{0, kSize}, {0, kSize}}));
  EXPECT_EQ(client.initiator().receive().header.status, Status::malformed);
}

TEST_F(TargetResidentTest, DataByMessagesEndsTheSession) {
  for (const auto type : {MessageType::read, MessageType::write, MessageType::zero}) {
    Client client(waiter_, target_.address());
    client.open();
    EXPECT_FALSE(client.request(type, {0, 512, 0, 0}));
    EXPECT_EQ(client.initiator().receive().header.type, MessageType::error);
  }
}

TEST_F(TargetResidentTest, WhatADeadSessionWroteReachesTheFile) {
  {
    Client client(waiter_, target_.address());
    client.open();
    client.put(5 * kMiB, "unflushed");
  }
  wait_for_file(5 * kMiB, "unflushed");
}

TEST_F(TargetResidentTest, TheEndOfTheTargetWritesBack) {
  Client client(waiter_, target_.address());
  client.open();
  client.put(6 * kMiB, "unflushed");
  target_.terminate();
  EXPECT_EQ(client.initiator().receive().header.type, MessageType::event);
  EXPECT_EQ(target_.wait(), 0);
  EXPECT_EQ(file_.read(6 * kMiB, 9), "unflushed");
}

TEST_F(TargetResidentTest, WhatTheFileDoesNotTakeIsToldWhoFlushesAndWhoEndsTheTarget) {
  target_.limit_file_size(4 * kMiB);
  Client client(waiter_, target_.address());
  client.open();
  client.put(0, "in reach");
  client.put(6 * kMiB, "out of reach");
  const auto reply = client.request(MessageType::flush, {}, {{6 * kMiB, 12}});
  ASSERT_TRUE(reply);
  EXPECT_EQ(reply->header.status, Status::no_space);
  target_.terminate();
  EXPECT_EQ(target_.wait(), 1);
  EXPECT_NE(target_.log().find("data is lost"), std::string::npos);
  EXPECT_NE(target_.log().find("'disk'"), std::string::npos);
  EXPECT_EQ(file_.read(0, 8), "in reach");
}

}  // namespace
}  // namespace rdmablk::testing
