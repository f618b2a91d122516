// What of a command on a file export needs no peer: when it ends early, and what it does not do.
#include "target/file_command.h"

#include <gtest/gtest.h>

#include <array>
#include <cerrno>
#include <future>
#include <vector>

#include "common/memory_mapping.h"
#include "scratch_directory.h"

namespace rdmablk::target {
namespace {

using protocol::IoRequest;
using protocol::MessageType;

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;

/// A hold that nobody waits for.
struct TestHold final : RangeLock::Hold {
  void on_granted() noexcept override { std::abort(); }
};

/// A buffered file, one command on it, and the thread that serves it.
class FileCommandTest : public ::testing::Test, private FileCommandOwner, private IoTask {
 protected:
  static constexpr std::size_t kSlot = 4096;

  void open(std::uint64_t size) {
    store_ = std::make_unique<FileStore>(
        parse_export_spec("disk=file:" + scratch_.make("disk.img", size) + ",direct=off"), 0);
    const std::array files{store_->file().fd()};
    thread_ = std::make_unique<IoThread>(0, files);
    blocking_ = std::make_unique<IoThread>(1, std::span<const int>());
    context_.emplace(FileCommandContext{*store_, &writer_, *thread_, *blocking_});
    FileCommandOwner& owner = *this;
    command_.emplace(*context_, owner, 0, slot_.bytes(), std::span<std::byte>());
    store_->flushes().add(writer_);
  }
  ~FileCommandTest() override {
    if (store_) store_->flushes().remove(writer_);
  }

  /// Has the command work on a request. @param abandoned at once. @return how it ended.
  int run(MessageType type, const IoRequest& request, bool abandoned = false) {
    type_ = type;
    request_ = request;
    abandons_ = abandoned;
    ended_ = {};
    thread_->post(*this);
    return ended_.get_future().get();
  }

  char byte_at(std::uint64_t offset) const {
    char byte = 0;
    EXPECT_EQ(::pread(store_->file().fd(), &byte, 1, static_cast<off_t>(offset)), 1);
    return byte;
  }
  void set_byte(std::uint64_t offset, char byte) const {
    EXPECT_EQ(::pwrite(store_->file().fd(), &byte, 1, static_cast<off_t>(offset)), 1);
  }

  ScratchDirectory scratch_;
  MemoryMapping slot_ = MemoryMapping::anonymous(kSlot);
  Writer writer_;
  std::unique_ptr<FileStore> store_;
  std::unique_ptr<IoThread> thread_;
  std::unique_ptr<IoThread> blocking_;
  std::optional<FileCommandContext> context_;
  std::optional<FileCommand> command_;
  bool ended_within_ = false;

 private:
  void run() noexcept override {
    begins_ = true;
    command_->begin(type_, request_, {});
    begins_ = false;
    context_->abandoned = abandons_;
  }
  void on_done(FileCommand& /*command*/, int error) noexcept override {
    ended_within_ = begins_;
    ended_.set_value(error);
  }

  MessageType type_{};
  IoRequest request_;
  bool abandons_ = false;
  bool begins_ = false;
  std::promise<int> ended_;
};

TEST_F(FileCommandTest, ZeroesBytesAndWholeBlocks) {
  open(kMiB);
  for (const std::uint64_t offset :
       std::array<std::uint64_t, 5>{0, 1, 500'000, kMiB - 2, kMiB - 1}) {
    set_byte(offset, 'x');
  }
  ASSERT_EQ(run(MessageType::zero, {1, kMiB - 2, 0, 0}), 0);
  EXPECT_EQ(byte_at(0), 'x');
  EXPECT_EQ(byte_at(1), '\0');
  EXPECT_EQ(byte_at(500'000), '\0');
  EXPECT_EQ(byte_at(kMiB - 2), '\0');
  EXPECT_EQ(byte_at(kMiB - 1), 'x');
}

TEST_F(FileCommandTest, AZeroThatNobodyWaitsForEndsAfterTheNextPiece) {
  open(kMiB);
  store_->cannot_zero();
  set_byte(0, 'x');
  set_byte(kMiB - 1, 'x');
  EXPECT_EQ(run(MessageType::zero, {0, kMiB, 0, 0}, true), ECANCELED);
  EXPECT_EQ(byte_at(0), '\0') << "what was begun is done";
  EXPECT_EQ(byte_at(kMiB - 1), 'x');
  TestHold hold;
  hold.begin = 0;
  hold.end = kMiB;
  ASSERT_TRUE(store_->ranges().acquire(hold)) << "it left its lock";
  store_->ranges().release(hold);
}

TEST_F(FileCommandTest, ADiscardThatNobodyWaitsForEndsBeforeItHasGoneFar) {
  constexpr std::uint64_t kGiB = 1024 * kMiB;
  open(4 * kGiB);
  set_byte(4 * kGiB - 1, 'x');
  EXPECT_EQ(run(MessageType::zero, {0, 4 * kGiB, IoRequest::kDiscard, 0}, true), ECANCELED);
  EXPECT_EQ(byte_at(4 * kGiB - 1), 'x');
}

TEST_F(FileCommandTest, ADurableWriteToABufferedFileIsAFlushOfAllThatWasWritten) {
  open(kMiB);
  ASSERT_EQ(run(MessageType::write, {0, 1, 0, 0}), 0);
  ASSERT_EQ(run(MessageType::write, {kMiB - 1, 1, IoRequest::kDurable, 0}), 0);
  store_->flushes().fail();
  EXPECT_FALSE(writer_.has_failed()) << "something is not stable yet";
}

TEST_F(FileCommandTest, AReaderHasNothingToFlush) {
  open(kMiB);
  context_->writer = nullptr;
  EXPECT_EQ(run(MessageType::flush, {}), 0);
  EXPECT_TRUE(ended_within_) << "it had the disk do something";
}

}  // namespace
}  // namespace rdmablk::target
