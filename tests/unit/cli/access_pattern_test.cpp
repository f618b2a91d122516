#include "initiator/cli/access_pattern.h"

#include <gtest/gtest.h>

#include <set>
#include <vector>

namespace rdmablk::cli {
namespace {

using initiator::Operation;
using initiator::Request;

BenchOptions options(Workload workload, std::uint64_t block_size, unsigned queues = 1) {
  BenchOptions options;
  options.workload = workload;
  options.block_size = block_size;
  options.queues = queues;
  options.read_percent = 70;
  return options;
}

std::vector<std::uint64_t> offsets(AccessPattern& pattern, int count) {
  std::vector<std::uint64_t> result;
  for (int i = 0; i < count; ++i) {
    Request request;
    pattern.aim(request);
    result.push_back(request.offset);
  }
  return result;
}

TEST(AccessPattern, WalksRoundTheRange) {
  AccessPattern pattern(options(Workload::read, 1000), {500, 3999}, 0);
  EXPECT_EQ(offsets(pattern, 5), (std::vector<std::uint64_t>{500, 1500, 2500, 500, 1500}));
}

TEST(AccessPattern, SharesTheBlocksBetweenTheQueues) {
  std::multiset<std::uint64_t> seen;
  for (unsigned queue = 0; queue < 2; ++queue) {
    AccessPattern pattern(options(Workload::write, 10, 2), {0, 60}, queue);
    for (const auto offset : offsets(pattern, 3)) seen.insert(offset);
  }
  EXPECT_EQ(seen, (std::multiset<std::uint64_t>{0, 10, 20, 30, 40, 50}));
}

TEST(AccessPattern, StaysInTheRangeWithMoreQueuesThanBlocks) {
  for (unsigned queue = 0; queue < 7; ++queue) {
    AccessPattern pattern(options(Workload::read, 512, 7), {0, 1024}, queue);
    for (const auto offset : offsets(pattern, 20)) EXPECT_LE(offset, 512U);
  }
}

TEST(AccessPattern, JumpsToEveryBlockAndNowhereElse) {
  AccessPattern pattern(options(Workload::randread, 1000), {7, 10500}, 0);
  const auto seen = offsets(pattern, 1000);
  const std::set<std::uint64_t> distinct(seen.begin(), seen.end());
  EXPECT_EQ(distinct.size(), 10U);
  EXPECT_EQ(*distinct.begin(), 7U);
  EXPECT_EQ(*distinct.rbegin(), 9007U);
  for (const auto offset : distinct) EXPECT_EQ((offset - 7) % 1000, 0U);
}

TEST(AccessPattern, GivesTheSameAgain) {
  AccessPattern first(options(Workload::randrw, 512), {0, 1U << 20U}, 3);
  AccessPattern second(options(Workload::randrw, 512), {0, 1U << 20U}, 3);
  AccessPattern other(options(Workload::randrw, 512), {0, 1U << 20U}, 4);
  const auto seen = offsets(first, 100);
  EXPECT_EQ(seen, offsets(second, 100));
  EXPECT_NE(seen, offsets(other, 100));
}

int reads_of_1000(const BenchOptions& options) {
  AccessPattern pattern(options, {0, 1U << 20U}, 0);
  int reads = 0;
  for (int i = 0; i < 1000; ++i) {
    Request request;
    pattern.aim(request);
    EXPECT_EQ(request.length, options.block_size);
    if (request.operation == Operation::read) ++reads;
  }
  return reads;
}

TEST(AccessPattern, ReadsAndWritesAsTheWorkloadSays) {
  EXPECT_EQ(reads_of_1000(options(Workload::read, 512)), 1000);
  EXPECT_EQ(reads_of_1000(options(Workload::randread, 512)), 1000);
  EXPECT_EQ(reads_of_1000(options(Workload::write, 512)), 0);
  EXPECT_EQ(reads_of_1000(options(Workload::randwrite, 512)), 0);
  EXPECT_NEAR(reads_of_1000(options(Workload::randrw, 512)), 700, 60);
}

}  // namespace
}  // namespace rdmablk::cli
