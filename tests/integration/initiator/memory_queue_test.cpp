// Queues of a memory export: reads, writes and zeroes of every size and place, more than fit, and
// the end of the target under them.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>
#include <random>

#include "initiator/remote_image.h"
#include "initiator/session.h"
#include "tests/integration/initiator/queue_driver.h"
#include "tests/integration/target/target_process.h"

namespace rdmablk::testing {
namespace {

using initiator::Operation;
using initiator::Request;

constexpr std::size_t kChunk = 64 << 10;
constexpr std::uint64_t kSize = 40 * kChunk + 512;  // the last chunk is a short one

class MemoryQueueTest : public ::testing::Test {
 protected:
  std::unique_ptr<initiator::RemoteImage> attach(unsigned queues) {
    initiator::AttachOptions options;
    options.queues = queues;
    return session_->attach("disk", options);
  }

  TargetProcess target_{{"--export", "disk=memory:" + std::to_string(kSize) + ",chunk=64K"}};
  std::unique_ptr<initiator::Session> session_ = initiator::Session::connect(target_.host_port());
};

void fill(std::span<std::byte> bytes, std::mt19937& random) {
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
}

/// A write that was acknowledged is in the target's memory. On iWARP a READ on another queue
/// overtakes WRITEs that were only sent, the more of them there are.
TEST_F(MemoryQueueTest, AcknowledgesAWriteOnlyWhenAnotherQueueCanReadIt) {
  constexpr std::size_t kWrite = 2 * kChunk;
  constexpr unsigned kWrites = 20;
  const auto image = attach(2);
  QueueDriver writer(*image, 32, kWrites, kWrite);
  QueueDriver reader(*image, 8, 1, 512);
  session_->start();
  for (int round = 1; round <= 50; ++round) {
    for (unsigned i = 0; i < kWrites; ++i) {
      Request& write = writer.submit(Operation::write, i * kWrite, kWrite);
      std::ranges::fill(writer.buffer(write), static_cast<std::byte>(round));
    }
    for (unsigned i = 0; i < kWrites; ++i) {
      const Request& write = writer.wait();
      ASSERT_EQ(write.error, 0);
      ASSERT_EQ(reader.run(Operation::read, write.offset + kWrite - 512, 512), 0);
      ASSERT_EQ(reader.last_buffer()[511], static_cast<std::byte>(round)) << "of write " << i;
    }
  }
  session_->stop();
}

/// Random requests against a model in memory; each range is used by one request at a time.
TEST_F(MemoryQueueTest, KeepsMoreRequestsThanFitAndTheirOrderlessData) {
  constexpr unsigned kRequests = 24;
  constexpr std::uint64_t kSlice = kSize / kRequests;
  const auto image = attach(1);
  QueueDriver driver(*image, 4, kRequests, kSlice);
  session_->start();
  std::vector<std::byte> model(kSize);
  std::mt19937 random(2);
  std::vector<std::uint64_t> idle_slices;
  for (unsigned i = 0; i < kRequests; ++i) idle_slices.push_back(i);
  const auto start = [&] {
    const std::uint64_t slice = idle_slices.back();
    idle_slices.pop_back();
    const std::uint64_t within = random() % kSlice;
    const std::uint64_t length = 1 + random() % (kSlice - within);
    const auto operation = static_cast<Operation>(std::array{0, 1, 3}[random() % 3]);
    const std::uint64_t offset = slice * kSlice + within;
    Request& request = driver.submit(operation, offset, length);
    const auto buffer = driver.buffer(request).first(length);
    fill(buffer, random);
    if (operation == Operation::write)
      std::ranges::copy(buffer, model.begin() + std::int64_t(offset));
    if (operation == Operation::zero)
      std::fill_n(model.begin() + std::int64_t(offset), length, std::byte{});
  };
  const auto finish = [&] {
    Request& request = driver.wait();
    ASSERT_EQ(request.error, 0);
    if (request.operation == Operation::read) {
      ASSERT_TRUE(std::ranges::equal(driver.buffer(request).first(request.length),
                                     std::span(model).subspan(request.offset, request.length)));
    }
    idle_slices.push_back(request.offset / kSlice);
  };
  for (int i = 0; i < 3000; ++i) {
    while (!idle_slices.empty()) start();
    ASSERT_NO_FATAL_FAILURE(finish());
  }
  while (driver.under_way() > 0) ASSERT_NO_FATAL_FAILURE(finish());
  session_->stop();
}

TEST_F(MemoryQueueTest, SplitsWhatIsLongerThanAnyWorkRequest) {
  const auto image = attach(1);
  QueueDriver driver(*image, 2, 1, kSize);
  session_->start();
  std::mt19937 random(3);
  std::vector<std::byte> written(kSize);
  fill(written, random);
  Request& write = driver.submit(Operation::write, 0, kSize);
  std::ranges::copy(written, driver.buffer(write).begin());
  ASSERT_EQ(driver.wait().error, 0);
  std::ranges::fill(driver.last_buffer(), std::byte{});
  ASSERT_EQ(driver.run(Operation::read, 0, kSize), 0);
  EXPECT_TRUE(std::ranges::equal(driver.last_buffer().first(kSize), written));
  ASSERT_EQ(driver.run(Operation::zero, 1, kSize - 2), 0);
  ASSERT_EQ(driver.run(Operation::read, 0, kSize), 0);
  EXPECT_EQ(driver.last_buffer()[0], written.front());
  EXPECT_EQ(driver.last_buffer()[kSize - 1], written.back());
  const auto middle = driver.last_buffer().first(kSize - 1).subspan(1);
  EXPECT_TRUE(std::ranges::all_of(middle, [](std::byte b) { return b == std::byte{}; }));
  session_->stop();
}

TEST_F(MemoryQueueTest, FlushAndEmptyRequestsEndAtOnce) {
  const auto image = attach(1);
  QueueDriver driver(*image, 2, 2, kChunk);
  EXPECT_EQ(driver.run(Operation::flush, 0, 0), 0);
  EXPECT_EQ(driver.run(Operation::read, kSize, 0), 0);
}

TEST_F(MemoryQueueTest, FailsEverythingWhenTheTargetDies) {
  constexpr unsigned kRequests = 64;
  const auto image = attach(1);
  QueueDriver driver(*image, 8, kRequests, kChunk);
  session_->set_recovery(no_recovery());
  session_->start();
  for (unsigned i = 0; i < kRequests; ++i) {
    driver.submit(i % 2 == 0 ? Operation::write : Operation::read, i % 16 * kChunk, kChunk);
  }
  driver.kick();
  target_.kill();
  int failed = 0;
  for (unsigned i = 0; i < kRequests; ++i) failed += driver.wait().error == EIO ? 1 : 0;
  EXPECT_EQ(driver.under_way(), 0U);
  // Sooner or later the loss reaches the queue, and then nothing works any more.
  int error = 0;
  for (int i = 0; i < 1000000 && error == 0; ++i) error = driver.run(Operation::write, 0, 512);
  EXPECT_EQ(error, EIO) << failed << " requests had failed";
  session_->stop();
}

TEST_F(MemoryQueueTest, WakesAnIdleQueueWhenTheTargetDies) {
  const auto image = attach(1);
  QueueDriver driver(*image, 8, 2, kChunk);
  session_->set_recovery(no_recovery());
  session_->start();
  Request* done = nullptr;
  driver.queue().arm();
  EXPECT_EQ(driver.queue().poll({&done, 1}), 0U);
  target_.kill();
  EXPECT_TRUE(driver.sleep());
  EXPECT_EQ(driver.queue().poll({&done, 1}), 0U);
  EXPECT_EQ(driver.run(Operation::write, 0, 512), EIO);
  session_->stop();
}

}  // namespace
}  // namespace rdmablk::testing
