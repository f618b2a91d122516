// Queues of a resident export: served from memory, and in the file once flushed.

#include <gtest/gtest.h>

#include <algorithm>
#include <cerrno>

#include "tests/integration/initiator/kept_image.h"

namespace rdmablk::testing {
namespace {

using initiator::Operation;
using initiator::Request;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kSize = 8 << 20;

class ResidentQueueTest : public ::testing::Test {
 protected:
  static constexpr const char* kOptions = ",resident,chunk=64K";
};

TEST_F(ResidentQueueTest, AFlushBringsTheFileUpToDate) {
  constexpr unsigned kSlices = 12;
  constexpr std::uint64_t kOdd = kSize + 512;
  KeptImage kept(kOdd, kOptions);
  const auto image = kept.attach(1);
  EXPECT_FALSE(image->info().flush_is_free);
  QueueDriver driver(*image, 6, kSlices, kOdd / kSlices);
  kept.session().start();
  RandomRequests requests(driver, kOdd, kSlices);
  for (int round = 0; round < 4; ++round) {
    EXPECT_EQ(requests.run(200), 0);
    EXPECT_EQ(driver.run(Operation::flush, 0, 0), 0);
    EXPECT_TRUE(kept.content() == requests.model());
  }
  kept.session().stop();
}

TEST_F(ResidentQueueTest, HandsOverMoreRangesThanOneMessageHas) {
  KeptImage kept(kSize, kOptions);
  const auto image = kept.attach(1);
  QueueDriver driver(*image, 8, 1, 512);
  kept.session().start();
  std::vector<std::byte> model(kSize);
  for (std::uint64_t offset = 0; offset < kSize; offset += 2 * kPage) {
    Request& write = driver.submit(Operation::write, offset + 7, 100);
    std::ranges::fill(driver.buffer(write), std::byte{42});
    std::fill_n(model.begin() + std::int64_t(offset) + 7, 100, std::byte{42});
    ASSERT_EQ(driver.wait().error, 0);
  }
  EXPECT_TRUE(kept.content() == std::vector<std::byte>(kSize));
  EXPECT_EQ(driver.run(Operation::flush, 0, 0), 0);
  EXPECT_TRUE(kept.content() == model);
  kept.session().stop();
}

TEST_F(ResidentQueueTest, ADurableWriteIsInTheFileWhenItEnds) {
  KeptImage kept(kSize, kOptions);
  const auto image = kept.attach(1);
  QueueDriver driver(*image, 8, 1, kPage);
  kept.session().start();
  for (int round = 1; round < 20; ++round) {
    Request& write = driver.submit(Operation::write, kPage, kPage);
    write.durable = true;
    std::ranges::fill(driver.buffer(write), static_cast<std::byte>(round));
    ASSERT_EQ(driver.wait().error, 0);
    ASSERT_EQ(kept.content()[kPage], static_cast<std::byte>(round));
  }
  kept.session().stop();
}

/// Each queue's flush covers the other one's writes; flushes meet at the gate.
TEST_F(ResidentQueueTest, QueuesFlushInTurn) {
  KeptImage kept(kSize, kOptions);
  const auto image = kept.attach(2);
  QueueDriver one(*image, 8, 3, kPage);
  QueueDriver other(*image, 8, 3, kPage);
  kept.session().start();
  for (int round = 1; round <= 30; ++round) {
    const auto value = static_cast<std::byte>(round);
    Request& write = one.submit(Operation::write, 0, kPage);
    std::ranges::fill(one.buffer(write), value);
    ASSERT_EQ(one.wait().error, 0);
    Request& mine = other.submit(Operation::write, 100 * kPage, kPage);
    std::ranges::fill(other.buffer(mine), value);
    mine.durable = true;
    other.submit(Operation::flush, 0, 0);
    one.submit(Operation::flush, 0, 0);
    other.kick();
    one.kick();
    // The queue that waits for the other one's flush needs it to be driven.
    int ended = 0;
    while (ended < 3) {
      for (QueueDriver* driver : {&one, &other}) {
        Request* done = driver->poll();
        if (done == nullptr) continue;
        ASSERT_EQ(done->error, 0);
        ++ended;
      }
    }
    ASSERT_EQ(kept.content()[0], value);
    ASSERT_EQ(kept.content()[100 * kPage], value);
  }
  kept.session().stop();
}

TEST_F(ResidentQueueTest, AReadOnlyAttachmentNeedsNoFlush) {
  KeptImage kept(kSize, kOptions);
  const auto image = kept.attach_to_read();
  QueueDriver driver(*image, 4, 1, kPage);
  kept.session().start();
  EXPECT_TRUE(image->info().flush_is_free);
  EXPECT_EQ(driver.run(Operation::read, kSize - kPage, kPage), 0);
  EXPECT_EQ(driver.run(Operation::flush, 0, 0), 0);
  kept.session().stop();
}

TEST_F(ResidentQueueTest, FailsFlushesWhenTheTargetDies) {
  KeptImage kept(kSize, kOptions);
  const auto image = kept.attach(1);
  QueueDriver driver(*image, 8, 8, kPage);
  kept.session().set_recovery(no_recovery());
  kept.session().start();
  for (int i = 0; i < 4; ++i) {
    driver.submit(Operation::write, i * kPage, kPage).durable = true;
    driver.submit(Operation::flush, 0, 0);
  }
  driver.kick();
  kept.target().kill();
  while (driver.under_way() > 0) driver.wait();
  EXPECT_EQ(driver.run(Operation::write, 0, 512), EIO);
  EXPECT_EQ(driver.run(Operation::flush, 0, 0), EIO);
  kept.session().stop();
}

}  // namespace
}  // namespace rdmablk::testing
