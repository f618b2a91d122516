#include "target/transfer.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <optional>
#include <vector>

#include "common/unique_fd.h"
#include "scripted_ring.h"
#include "target/io_uring.h"

namespace rdmablk::target {
namespace {

/// A transfer that remembers how it ended.
class RecordedTransfer final : public Transfer {
 public:
  std::optional<int> error;

 private:
  void on_transferred(int value) noexcept override { error = value; }
};

class TransferTest : public ::testing::Test {
 protected:
  void start(RingOperation::Kind kind, std::uint64_t alignment = 1) {
    transfer_.start(ring_, {.kind = kind,
                            .durable = kind == RingOperation::Kind::write,
                            .file = 3,
                            .buffer = 5,
                            .data = memory_.data(),
                            .length = memory_.size(),
                            .offset = 1 << 20,
                            .alignment = alignment});
  }

  /// What the last operation is about, relative to the transfer.
  void expect_rest(std::uint64_t done) const {
    const ScriptedRing::Entry& last = ring_.entries().back();
    EXPECT_EQ(last.data, memory_.data() + done);
    EXPECT_EQ(last.length, memory_.size() - done);
    EXPECT_EQ(last.offset, (1U << 20) + done);
    EXPECT_EQ(last.file, 3U);
    EXPECT_EQ(last.buffer, 5U);
  }

  std::vector<std::byte> memory_ = std::vector<std::byte>(16384);
  ScriptedRing ring_;
  RecordedTransfer transfer_;
};

TEST_F(TransferTest, EndsWhenAllIsDone) {
  start(RingOperation::Kind::write);
  expect_rest(0);
  EXPECT_EQ(ring_.entries().back().kind, RingOperation::Kind::write);
  EXPECT_TRUE(ring_.entries().back().durable);
  ring_.end_with(16384);
  EXPECT_EQ(transfer_.error, 0);
  EXPECT_EQ(ring_.in_flight(), 0U);
}

TEST_F(TransferTest, ContinuesAShortRead) {
  start(RingOperation::Kind::read);
  ring_.end_with(1000);
  EXPECT_FALSE(transfer_.error);
  expect_rest(1000);
  ring_.end_with(1);
  expect_rest(1001);
  ring_.end_with(16384 - 1001);
  EXPECT_EQ(transfer_.error, 0);
}

TEST_F(TransferTest, ContinuesAShortWriteAsDurably) {
  start(RingOperation::Kind::write);
  ring_.end_with(4096);
  expect_rest(4096);
  EXPECT_EQ(ring_.entries().back().kind, RingOperation::Kind::write);
  EXPECT_TRUE(ring_.entries().back().durable);
  ring_.end_with(12288);
  EXPECT_EQ(transfer_.error, 0);
}

TEST_F(TransferTest, ContinuesAtTheLastAlignedPlace) {
  start(RingOperation::Kind::write, 512);
  ring_.end_with(1500);
  expect_rest(1024);
  ring_.end_with(700);
  expect_rest(1536);
  ring_.end_with(511);
  EXPECT_EQ(transfer_.error, EIO) << "no block was written whole";
  EXPECT_EQ(ring_.in_flight(), 0U);
}

TEST_F(TransferTest, TriesAgainWhatWasInterrupted) {
  for (const int error : {EINTR, EAGAIN}) {
    start(RingOperation::Kind::read);
    ring_.end_with(4096);
    ring_.end_with(-error);
    ASSERT_EQ(ring_.in_flight(), 1U);
    expect_rest(4096);
    ring_.end_with(12288);
    EXPECT_EQ(transfer_.error, 0);
    transfer_.error.reset();
  }
}

TEST_F(TransferTest, GivesUpWithoutProgress) {
  start(RingOperation::Kind::read);
  for (int i = 0; i < 1000; ++i) ring_.end_with(-EAGAIN);
  ring_.end_with(4096);
  for (int i = 0; i < 1000; ++i) ring_.end_with(-EAGAIN);
  EXPECT_FALSE(transfer_.error);
  ring_.end_with(-EAGAIN);
  EXPECT_EQ(transfer_.error, EIO);
  EXPECT_EQ(ring_.in_flight(), 0U);
}

struct Ending {
  RingOperation::Kind kind;
  int result;
  int error;
};

class TransferEndingTest : public TransferTest, public ::testing::WithParamInterface<Ending> {};

TEST_P(TransferEndingTest, TellsTheError) {
  start(GetParam().kind);
  ring_.end_with(512);
  ring_.end_with(GetParam().result);
  EXPECT_EQ(transfer_.error, GetParam().error);
  EXPECT_EQ(ring_.in_flight(), 0U);
}

INSTANTIATE_TEST_SUITE_P(Endings, TransferEndingTest,
                         ::testing::Values(Ending{RingOperation::Kind::read, 0, EIO},
                                           Ending{RingOperation::Kind::write, 0, ENOSPC},
                                           Ending{RingOperation::Kind::read, -ECANCELED, EIO},
                                           Ending{RingOperation::Kind::write, -ECANCELED, EIO},
                                           Ending{RingOperation::Kind::write, -ENOSPC, ENOSPC},
                                           Ending{RingOperation::Kind::read, -EINVAL, EINVAL}));

TEST_F(TransferTest, MeetsTheEndOfARealFile) {
  const UniqueFd file(::memfd_create("transfer_test", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), 10000), 0);
  const std::array files{file.get()};
  IoUring ring(files, 0);
  transfer_.start(ring, {.data = memory_.data(), .length = 10000});
  while (!transfer_.error) ring.run(true);
  EXPECT_EQ(transfer_.error, 0);
  transfer_.error.reset();
  transfer_.start(ring, {.data = memory_.data(), .length = 10001});
  while (!transfer_.error) ring.run(true);
  EXPECT_EQ(transfer_.error, EIO);
}

TEST_F(TransferTest, MeetsAFullDevice) {
  const UniqueFd file(::open("/dev/full", O_WRONLY | O_CLOEXEC));
  const std::array files{file.get()};
  IoUring ring(files, 0);
  transfer_.start(ring, {.kind = RingOperation::Kind::write, .data = memory_.data(), .length = 10});
  while (!transfer_.error) ring.run(true);
  EXPECT_EQ(transfer_.error, ENOSPC);
}

}  // namespace
}  // namespace rdmablk::target
