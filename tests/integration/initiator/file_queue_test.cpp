// Queues of a file export: every kind of request at every size and place, more than fit, what the
// target's storage refuses, and the end of the target under them.

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/protocol/io_messages.h"
#include "tests/integration/initiator/kept_image.h"

namespace rdmablk::testing {
namespace {

using initiator::Operation;
using initiator::Request;
using protocol::Extent;

constexpr std::uint64_t kPage = 4096;
constexpr std::uint64_t kSize = 2 << 20;

class FileQueueTest : public ::testing::Test {
 protected:
  /// The extents of a map of the whole image.
  std::vector<Extent> map(QueueDriver& driver) {
    std::vector<Extent> extents;
    for (std::uint64_t offset = 0; offset < kSize;) {
      Request& request = driver.submit(Operation::map, offset, kSize - offset);
      request.extents = 2;
      driver.wait();
      EXPECT_EQ(request.error, 0);
      EXPECT_GE(request.extents, 1U);
      if (request.error != 0 || request.extents == 0) break;
      const auto* found = reinterpret_cast<const Extent*>(driver.buffer(request).data());
      for (const Extent& extent : std::span(found, request.extents)) {
        offset += extent.length;
        if (!extents.empty() && extents.back().is_hole == extent.is_hole) {
          extents.back().length += extent.length;
        } else {
          extents.push_back(extent);
        }
      }
    }
    return extents;
  }
};

/// Once past the page cache, where the file system takes it, and once through it.
class AnyFileQueueTest : public ::testing::TestWithParam<const char*> {};

TEST_P(AnyFileQueueTest, KeepsMoreRequestsThanFitAndTheirData) {
  constexpr unsigned kSlices = 12;
  constexpr std::uint64_t kOdd = kSize + 512;
  KeptImage kept(kOdd, GetParam(), {"--slot-size", "16K", "--slots", "8"});
  const auto image = kept.attach(1);
  QueueDriver driver(*image, 6, kSlices, kOdd / kSlices);
  kept.session().start();
  RandomRequests requests(driver, kOdd, kSlices);
  EXPECT_EQ(requests.run(600), 0);
  EXPECT_EQ(driver.run(Operation::flush, 0, 0), 0);
  EXPECT_TRUE(kept.content() == requests.model());
  kept.session().stop();
}

INSTANTIATE_TEST_SUITE_P(, AnyFileQueueTest, ::testing::Values(",direct=auto", ",direct=off"),
                         [](const auto& parameter) {
                           return parameter.index == 0 ? "Direct" : "Buffered";
                         });

TEST_F(FileQueueTest, ShowsWhereDataAndHolesAre) {
  KeptImage kept(kSize, "");
  const auto image = kept.attach(1);
  EXPECT_TRUE(image->info().has_holes);
  EXPECT_FALSE(image->info().flush_is_free);
  QueueDriver driver(*image, 4, 1, 64 * kPage);
  kept.session().start();
  EXPECT_EQ(map(driver), (std::vector<Extent>{{kSize, true}}));
  ASSERT_EQ(driver.run(Operation::write, 64 * kPage, 64 * kPage), 0);
  ASSERT_EQ(driver.run(Operation::flush, 0, 0), 0);
  EXPECT_EQ(
      map(driver),
      (std::vector<Extent>{{64 * kPage, true}, {64 * kPage, false}, {kSize - 128 * kPage, true}}));
  if (image->info().can_discard) {
    ASSERT_EQ(driver.run(Operation::discard, 0, kSize), 0);
    EXPECT_EQ(map(driver), (std::vector<Extent>{{kSize, true}}));
  }
  kept.session().stop();
}

TEST_F(FileQueueTest, AnErrorOfTheStorageConcernsOneRequest) {
  KeptImage kept(kSize, ",direct=off", {"--slot-size", "16K"});
  const auto image = kept.attach(1);
  QueueDriver driver(*image, 4, 4, kSize);
  kept.session().start();
  // Its second half is gone behind the target's back.
  ASSERT_EQ(::truncate(kept.path().c_str(), kSize / 2), 0);
  EXPECT_EQ(driver.run(Operation::read, kSize - kPage, kPage), EIO);
  EXPECT_EQ(driver.run(Operation::read, 0, kPage), 0);
  // One piece of many.
  EXPECT_EQ(driver.run(Operation::read, 0, kSize), EIO);
  EXPECT_EQ(driver.run(Operation::read, 0, kSize / 2), 0);
  for (int round = 0; round < 20; ++round) {
    driver.submit(Operation::read, 0, kSize / 2);
    driver.submit(Operation::read, kPage, kSize - kPage);
    driver.submit(Operation::write, 3, kPage);
    for (int i = 0; i < 3; ++i) {
      const Request& request = driver.wait();
      EXPECT_EQ(request.error, request.length == kSize - kPage ? EIO : 0);
    }
  }
  EXPECT_EQ(driver.under_way(), 0U);
  kept.session().stop();
}

TEST_F(FileQueueTest, AReadOnlyAttachmentReadsAndDoesNotWrite) {
  KeptImage kept(kSize, "");
  const auto image = kept.attach_to_read();
  EXPECT_TRUE(image->info().flush_is_free);
  QueueDriver driver(*image, 4, 1, kPage);
  kept.session().start();
  EXPECT_EQ(driver.run(Operation::read, 0, kPage), 0);
  EXPECT_EQ(driver.run(Operation::flush, 0, 0), 0);
  EXPECT_EQ(driver.run(Operation::write, 0, kPage), EROFS);
  kept.session().stop();
}

TEST_F(FileQueueTest, FailsEverythingWhenTheTargetDies) {
  constexpr unsigned kRequests = 32;
  KeptImage kept(kSize, "");
  const auto image = kept.attach(1);
  QueueDriver driver(*image, 8, kRequests + 1, 64 * kPage);
  kept.session().set_recovery(no_recovery());
  kept.session().start();
  for (unsigned i = 0; i < kRequests; ++i) {
    driver.submit(i % 2 == 0 ? Operation::write : Operation::read, i % 4 * 64 * kPage, 64 * kPage);
  }
  driver.submit(Operation::flush, 0, 0);
  driver.kick();
  kept.target().kill();
  while (driver.under_way() > 0) driver.wait();
  // Sooner or later the loss reaches the queue, and then nothing works any more.
  EXPECT_EQ(driver.run(Operation::write, 0, 512), EIO);
  EXPECT_EQ(driver.run(Operation::flush, 0, 0), EIO);
  kept.session().stop();
}

TEST_F(FileQueueTest, WakesAnIdleQueueWhenTheTargetDies) {
  KeptImage kept(kSize, "");
  const auto image = kept.attach(1);
  QueueDriver driver(*image, 8, 2, kPage);
  kept.session().set_recovery(no_recovery());
  kept.session().start();
  Request* done = nullptr;
  driver.queue().arm();
  EXPECT_EQ(driver.queue().poll({&done, 1}), 0U);
  kept.target().kill();
  EXPECT_TRUE(driver.sleep());
  EXPECT_EQ(driver.queue().poll({&done, 1}), 0U);
  EXPECT_EQ(driver.run(Operation::read, 0, 512), EIO);
  kept.session().stop();
}

}  // namespace
}  // namespace rdmablk::testing
