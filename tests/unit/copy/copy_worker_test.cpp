#include "initiator/copy/copy_worker.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cerrno>

#include "initiator/copy/compare_worker.h"
#include "tests/unit/copy/memory_image.h"

namespace rdmablk::copy {
namespace {

using initiator::Operation;

constexpr std::size_t kBlock = 4096;
constexpr std::size_t kSize = 10 * kBlock + 100;

class CopyWorkerTest : public testing::Test {
 protected:
  CopyWorkerTest() {
    for (std::size_t i = 0; i < kSize; ++i) source.bytes[i] = std::byte(i % 251 + 1);
    for (std::byte& byte : destination.bytes) byte = std::byte{0xee};
  }

  static CopyPlan::Options whole(CopyPlan::Map map = {}) {
    return {kSize, kBlock, 2 * kBlock, std::move(map)};
  }

  MemoryImage source{kSize};
  MemoryImage destination{kSize};
  Lane lane{{{&source}, {&destination}}, 3, kBlock};
};

TEST_F(CopyWorkerTest, CopiesAllInBlocks) {
  CopyPlan plan(whole());
  CopyWorker worker(lane, plan, {});
  worker.run();
  EXPECT_FALSE(worker.failure());
  EXPECT_EQ(destination.bytes, source.bytes);
  EXPECT_EQ(worker.bytes(), kSize);
  EXPECT_EQ(worker.data_bytes(), kSize);
  EXPECT_EQ(destination.count(Operation::write), 11U);
}

TEST_F(CopyWorkerTest, DoesNotReadHoles) {
  std::fill_n(source.bytes.begin(), 5 * kBlock, std::byte{0});
  CopyPlan plan(whole([](std::uint64_t, std::uint64_t length) {
    return std::vector<protocol::Extent>{{5 * kBlock, true}, {length - 5 * kBlock, false}};
  }));
  CopyWorker worker(lane, plan, {.zeroes = Zeroes::discard, .sparse_unit = 512});
  worker.run();
  EXPECT_EQ(destination.bytes, source.bytes);
  EXPECT_EQ(source.total(Operation::read), kSize - 5 * kBlock);
  EXPECT_EQ(destination.total(Operation::discard), 5 * kBlock);
  EXPECT_EQ(worker.zero_bytes(), 5 * kBlock);
}

TEST_F(CopyWorkerTest, FindsZeroesInData) {
  std::fill_n(source.bytes.begin() + 512, 1024, std::byte{0});
  CopyPlan plan(whole());
  CopyWorker worker(lane, plan, {.zeroes = Zeroes::discard, .sparse_unit = 512});
  worker.run();
  EXPECT_EQ(destination.bytes, source.bytes);
  EXPECT_EQ(destination.total(Operation::discard), 1024U);
  EXPECT_EQ(worker.data_bytes(), kSize - 1024);
}

TEST_F(CopyWorkerTest, LeavesZeroesWhereTheyAreAlready) {
  std::fill(source.bytes.begin(), source.bytes.end(), std::byte{0});
  std::fill(destination.bytes.begin(), destination.bytes.end(), std::byte{0});
  CopyPlan plan(whole());
  CopyWorker worker(lane, plan, {.zeroes = Zeroes::skip, .sparse_unit = 512});
  worker.run();
  EXPECT_TRUE(destination.requests.empty());
  EXPECT_EQ(worker.bytes(), kSize);
  EXPECT_EQ(worker.zero_bytes(), kSize);
}

TEST_F(CopyWorkerTest, WritesZeroesAsDataWhenNobodyLooks) {
  std::fill(source.bytes.begin(), source.bytes.end(), std::byte{0});
  CopyPlan plan(whole());
  CopyWorker worker(lane, plan, {.zeroes = Zeroes::write, .sparse_unit = 0});
  worker.run();
  EXPECT_EQ(destination.bytes, source.bytes);
  EXPECT_EQ(destination.total(Operation::write), kSize);
}

TEST_F(CopyWorkerTest, StopsAtTheFirstFailureAndSaysWhere) {
  destination.fails = [](const initiator::Request& request) {
    return request.offset == 2 * kBlock ? ENOSPC : 0;
  };
  CopyPlan plan(whole());
  CopyWorker worker(lane, plan, {});
  worker.run();
  ASSERT_TRUE(worker.failure());
  EXPECT_EQ(worker.failure()->side, Side::destination);
  EXPECT_EQ(worker.failure()->operation, Operation::write);
  EXPECT_EQ(worker.failure()->offset, 2 * kBlock);
  EXPECT_EQ(worker.failure()->length, kBlock);
  EXPECT_EQ(worker.failure()->error, ENOSPC);
  EXPECT_TRUE(plan.is_stopped());
  EXPECT_LT(source.total(Operation::read), kSize);
}

TEST_F(CopyWorkerTest, SaysWhyThereIsNoMap) {
  CopyPlan plan(whole([](std::uint64_t, std::uint64_t) -> std::vector<protocol::Extent> {
    throw std::runtime_error("no map");
  }));
  CopyWorker worker(lane, plan, {});
  worker.run();
  EXPECT_FALSE(worker.failure());
  EXPECT_TRUE(worker.plan_failure());
}

TEST_F(CopyWorkerTest, DoesNotWriteBehindTheLimit) {
  Lane limited({{&source}, {&destination, 0, 3 * kBlock}}, 1, kBlock);
  CopyPlan plan(whole());
  CopyWorker worker(limited, plan, {});
  worker.run();
  ASSERT_TRUE(worker.failure());
  EXPECT_EQ(worker.failure()->error, EFBIG);
  EXPECT_EQ(worker.failure()->offset, 3 * kBlock);
  EXPECT_EQ(destination.total(Operation::write), 3 * kBlock);
}

TEST_F(CopyWorkerTest, MovesBetweenOffsets) {
  Lane shifted({{&source, 100}, {&destination, 300}}, 2, kBlock);
  CopyPlan plan({3 * kBlock, kBlock, kBlock, {}});
  CopyWorker worker(shifted, plan, {});
  worker.run();
  EXPECT_TRUE(std::equal(destination.bytes.begin() + 300,
                         destination.bytes.begin() + 300 + 3 * kBlock, source.bytes.begin() + 100));
  EXPECT_EQ(destination.bytes[299], std::byte{0xee});
  EXPECT_EQ(destination.bytes[300 + 3 * kBlock], std::byte{0xee});
}

using CompareWorkerTest = CopyWorkerTest;

TEST_F(CompareWorkerTest, FindsNoDifferenceInWhatIsTheSame) {
  destination.bytes = source.bytes;
  CopyPlan plan(whole());
  CompareWorker worker(lane, plan);
  worker.run();
  EXPECT_FALSE(worker.difference());
  EXPECT_EQ(worker.bytes(), kSize);
}

TEST_F(CompareWorkerTest, FindsTheFirstOfSeveral) {
  destination.bytes = source.bytes;
  for (const std::size_t at : {9 * kBlock, 3 * kBlock + 7, 3 * kBlock + 8, 4 * kBlock}) {
    destination.bytes[at] ^= std::byte{0x10};
  }
  CopyPlan plan(whole());
  CompareWorker worker(lane, plan);
  worker.run();
  ASSERT_TRUE(worker.difference());
  EXPECT_EQ(worker.difference()->position, 3 * kBlock + 7);
  EXPECT_EQ(worker.difference()->source ^ worker.difference()->destination, 0x10U);
}

TEST_F(CompareWorkerTest, HasHolesBeZero) {
  std::fill(destination.bytes.begin(), destination.bytes.end(), std::byte{0});
  destination.bytes[kBlock + 1] = std::byte{1};
  CopyPlan plan({kSize, kBlock, kBlock, all_holes});
  CompareWorker worker(lane, plan);
  worker.run();
  ASSERT_TRUE(worker.difference());
  EXPECT_EQ(worker.difference()->position, kBlock + 1);
  EXPECT_EQ(source.total(Operation::read), 0U);
}

}  // namespace
}  // namespace rdmablk::copy
