#include "target/io_uring.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <thread>
#include <vector>

#include "common/unique_fd.h"
#include "error_of.h"
#include "recorded_operation.h"

namespace rdmablk::target {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;

constexpr std::size_t kSize = 1 << 16;

class IoUringTest : public ::testing::Test {
 protected:
  IoUringTest() {
    EXPECT_EQ(::ftruncate(file_.get(), kSize), 0);
    EXPECT_EQ(::pipe2(pipe_.data(), O_CLOEXEC), 0);
    pipe_out_.reset(pipe_[0]);
    pipe_in_.reset(pipe_[1]);
    const std::array files{file_.get(), pipe_out_.get(), full_.get()};
    ring_ = std::make_unique<IoUring>(files, 2U);
  }

  static void describe(RecordedOperation& operation, RingOperation::Kind kind,
                       std::span<std::byte> data, std::uint64_t offset) {
    operation.kind = kind;
    operation.data = data.data();
    operation.length = data.size();
    operation.offset = offset;
  }

  std::vector<std::byte> content(std::size_t offset, std::size_t length) const {
    std::vector<std::byte> bytes(length);
    EXPECT_EQ(::pread(file_.get(), bytes.data(), length, static_cast<off_t>(offset)),
              static_cast<ssize_t>(length));
    return bytes;
  }

  static constexpr unsigned kFile = 0;
  static constexpr unsigned kPipe = 1;
  static constexpr unsigned kFull = 2;

  UniqueFd file_{::memfd_create("io_uring_test", MFD_CLOEXEC)};
  UniqueFd full_{::open("/dev/full", O_RDWR | O_CLOEXEC)};
  std::array<int, 2> pipe_{};
  UniqueFd pipe_out_;
  UniqueFd pipe_in_;
  std::vector<std::byte> memory_ = std::vector<std::byte>(kSize, std::byte{0x55});
  std::unique_ptr<IoUring> ring_;
  RecordedOperation operation_;
};

TEST_F(IoUringTest, WritesAPieceOfARegisteredBuffer) {
  const unsigned buffer = ring_->register_buffer(memory_);
  const std::span piece = std::span(memory_).subspan(1001, 3000);
  std::fill(piece.begin(), piece.end(), std::byte{7});
  describe(operation_, RingOperation::Kind::write, piece, 5000);
  operation_.buffer = buffer;
  EXPECT_EQ(result_of(*ring_, operation_), 3000);
  EXPECT_THAT(content(5000, 3000), Each(std::byte{7}));
  EXPECT_THAT(content(0, 5000), Each(std::byte{0}));
  EXPECT_THAT(content(8000, 5000), Each(std::byte{0}));
}

TEST_F(IoUringTest, ReadsIntoAPieceOfARegisteredBuffer) {
  const unsigned buffer = ring_->register_buffer(memory_);
  const std::vector<std::byte> bytes(3000, std::byte{9});
  ASSERT_EQ(::pwrite(file_.get(), bytes.data(), bytes.size(), 777), 3000);
  describe(operation_, RingOperation::Kind::read, std::span(memory_).subspan(501, 3000), 777);
  operation_.buffer = buffer;
  EXPECT_EQ(result_of(*ring_, operation_), 3000);
  EXPECT_THAT(std::span(memory_).subspan(501, 3000), Each(std::byte{9}));
  EXPECT_THAT(std::span(memory_).first(501), Each(std::byte{0x55}));
  EXPECT_THAT(std::span(memory_).subspan(3501), Each(std::byte{0x55}));
}

TEST_F(IoUringTest, KeepsDataInsideTheRegisteredBuffer) {
  const unsigned buffer = ring_->register_buffer(std::span(memory_).first(4096));
  describe(operation_, RingOperation::Kind::read, std::span(memory_).subspan(4000, 200), 0);
  operation_.buffer = buffer;
  EXPECT_EQ(result_of(*ring_, operation_), -EFAULT);
}

TEST_F(IoUringTest, ForgetsAnUnregisteredBuffer) {
  const unsigned buffer = ring_->register_buffer(memory_);
  ring_->unregister_buffer(buffer);
  describe(operation_, RingOperation::Kind::read, memory_, 0);
  operation_.buffer = buffer;
  EXPECT_EQ(result_of(*ring_, operation_), -EFAULT);
}

TEST_F(IoUringTest, GivesNumbersOfBuffersOutAgain) {
  const unsigned first = ring_->register_buffer(memory_);
  const unsigned second = ring_->register_buffer(memory_);
  EXPECT_NE(first, second);
  EXPECT_THAT(error_of<SystemError>([&] { ring_->register_buffer(memory_); }),
              HasSubstr("register 64 KiB of memory with an io_uring"));
  ring_->unregister_buffer(first);
  EXPECT_EQ(ring_->register_buffer(memory_), first);
}

TEST_F(IoUringTest, RefusesABufferThatIsNotThere) {
  auto* nowhere = reinterpret_cast<std::byte*>(std::uintptr_t{4096});
  EXPECT_THAT(error_of<SystemError>([&] { ring_->register_buffer(std::span(nowhere, 4096)); }),
              HasSubstr("Bad address"));
}

TEST_F(IoUringTest, ReadsAndWritesOtherMemory) {
  describe(operation_, RingOperation::Kind::write, memory_, 0);
  operation_.durable = true;
  EXPECT_EQ(result_of(*ring_, operation_), static_cast<int>(kSize));
  EXPECT_THAT(content(0, kSize), Each(std::byte{0x55}));
  std::vector<std::byte> bytes(kSize);
  describe(operation_, RingOperation::Kind::read, bytes, 0);
  EXPECT_EQ(result_of(*ring_, operation_), static_cast<int>(kSize));
  EXPECT_EQ(bytes, memory_);
}

TEST_F(IoUringTest, SyncsAndAllocates) {
  ASSERT_EQ(::pwrite(file_.get(), memory_.data(), kSize, 0), static_cast<ssize_t>(kSize));
  operation_.kind = RingOperation::Kind::sync;
  EXPECT_EQ(result_of(*ring_, operation_), 0);
  operation_.kind = RingOperation::Kind::allocate;
  operation_.mode = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
  operation_.offset = 4096;
  operation_.length = 8192;
  EXPECT_EQ(result_of(*ring_, operation_), 0);
  EXPECT_THAT(content(4096, 8192), Each(std::byte{0}));
  EXPECT_THAT(content(0, 4096), Each(std::byte{0x55}));
  EXPECT_THAT(content(12288, 4096), Each(std::byte{0x55}));
}

TEST_F(IoUringTest, HandsErrorsBack) {
  describe(operation_, RingOperation::Kind::write, memory_, 0);
  operation_.file = kFull;
  EXPECT_EQ(result_of(*ring_, operation_), -ENOSPC);
  operation_.file = 99;
  EXPECT_EQ(result_of(*ring_, operation_), -EBADF);
}

TEST_F(IoUringTest, EndsReadsShortAtTheEndOfTheFile) {
  describe(operation_, RingOperation::Kind::read, memory_, kSize - 100);
  EXPECT_EQ(result_of(*ring_, operation_), 100);
  operation_.offset = kSize;
  EXPECT_EQ(result_of(*ring_, operation_), 0);
}

TEST_F(IoUringTest, DoesNotCallBackFromWithinSubmit) {
  std::vector<RecordedOperation> operations(1000);
  for (RecordedOperation& operation : operations) {
    describe(operation, RingOperation::Kind::read, memory_, 0);
    ring_->submit(operation);
  }
  for (const RecordedOperation& operation : operations) EXPECT_FALSE(operation.result);
  EXPECT_EQ(ring_->in_flight(), 1000U);
  while (ring_->in_flight() > 0) ring_->run(true);
}

TEST_F(IoUringTest, TakesMoreThanFitsIntoTheQueues) {
  constexpr std::size_t kCount = 20000;
  std::vector<std::uint32_t> numbers(kCount);
  std::vector<RecordedOperation> operations(kCount);
  ASSERT_EQ(::ftruncate(file_.get(), 0), 0);
  for (std::size_t i = 0; i < kCount; ++i) {
    numbers[i] = static_cast<std::uint32_t>(i);
    describe(operations[i], RingOperation::Kind::write,
             std::as_writable_bytes(std::span(&numbers[i], 1)), i * sizeof(std::uint32_t));
    ring_->submit(operations[i]);
  }
  while (ring_->in_flight() > 0) ring_->run(true);
  for (const RecordedOperation& operation : operations) ASSERT_EQ(operation.result, 4);
  const auto written = content(0, kCount * sizeof(std::uint32_t));
  EXPECT_TRUE(std::ranges::equal(written, std::as_bytes(std::span(numbers))));
}

TEST_F(IoUringTest, HoldsBackWhatTheKernelHasNoRoomFor) {
  constexpr std::size_t kCount = 10000;
  std::vector<std::byte> bytes(kCount);
  std::vector<RecordedOperation> operations(kCount);
  for (std::size_t i = 0; i < kCount; ++i) {
    describe(operations[i], RingOperation::Kind::read, std::span(bytes).subspan(i, 1), 0);
    operations[i].file = kPipe;
    ring_->submit(operations[i]);
  }
  ring_->run(false);
  EXPECT_EQ(ring_->in_flight(), kCount);
  ASSERT_EQ(::write(pipe_in_.get(), memory_.data(), kCount), static_cast<ssize_t>(kCount));
  while (ring_->in_flight() > 0) ring_->run(true);
  for (const RecordedOperation& operation : operations) ASSERT_EQ(operation.result, 1);
  EXPECT_THAT(bytes, Each(std::byte{0x55}));
}

/// Reads the file once more each time.
class Repeated final : public RingOperation {
 public:
  Repeated(IoUring& ring, unsigned times) : ring_(ring), left_(times) {}
  unsigned left() const { return left_; }
  void on_result(int) noexcept override {
    if (--left_ > 0) ring_.submit(*this);
  }

 private:
  IoUring& ring_;
  unsigned left_;
};

TEST_F(IoUringTest, SubmitsAnewFromWithinACallback) {
  std::vector<std::unique_ptr<Repeated>> operations;
  for (int i = 0; i < 300; ++i) {
    operations.push_back(std::make_unique<Repeated>(*ring_, 20));
    operations.back()->data = memory_.data();
    operations.back()->length = 16;
    ring_->submit(*operations.back());
  }
  while (ring_->in_flight() > 0) ring_->run(true);
  for (const auto& operation : operations) EXPECT_EQ(operation->left(), 0U);
}

TEST_F(IoUringTest, DestructionWaitsForWhatIsInFlight) {
  describe(operation_, RingOperation::Kind::read, std::span(memory_).first(4), 0);
  operation_.file = kPipe;
  ring_->submit(operation_);
  std::vector<RecordedOperation> operations(1000);
  for (RecordedOperation& operation : operations) {
    describe(operation, RingOperation::Kind::write, std::span(memory_).subspan(4), 0);
    ring_->submit(operation);
  }
  ring_->run(false);
  std::thread writer([this] { EXPECT_EQ(::write(pipe_in_.get(), "abcd", 4), 4); });
  ring_.reset();
  EXPECT_EQ(operation_.result, 4);
  for (const RecordedOperation& operation : operations) {
    EXPECT_EQ(operation.result, static_cast<int>(kSize) - 4);
  }
  writer.join();
}

TEST_F(IoUringTest, SaysWhenTheKernelCancelsAnOperation) {
  describe(operation_, RingOperation::Kind::read, std::span(memory_).first(4), 0);
  operation_.file = kPipe;
  std::thread([this] {
    ring_->submit(operation_);
    ring_->run(false);
  }).join();  // nobody is left to work on it
  EXPECT_EQ(::write(pipe_in_.get(), "abcd", 4), 4);
  while (!operation_.result) ring_->run(true);
  EXPECT_EQ(operation_.result, -ECANCELED);
}

TEST_F(IoUringTest, DoesNotWaitUnlessTold) {
  describe(operation_, RingOperation::Kind::read, std::span(memory_).first(4), 0);
  operation_.file = kPipe;
  ring_->submit(operation_);
  ring_->run(false);
  ring_->run(false);
  EXPECT_FALSE(operation_.result);
  EXPECT_EQ(::write(pipe_in_.get(), "abcd", 4), 4);
  ring_->run(false);
  EXPECT_EQ(operation_.result, 4);
}

}  // namespace
}  // namespace rdmablk::target
