#include "common/protocol/use_report.h"

#include <gtest/gtest.h>

#include <limits>

#include "tests/unit/common/samples.h"

namespace rdmablk::protocol {
namespace {

constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();

TEST(Use, TellsWhatHasComeSinceBefore) {
  const Use before{1, 2, 3, 4, 5, 6, 7};
  const Use now{11, 2, 4, 4, 105, 6, 8};
  EXPECT_EQ(now.since(before), (Use{10, 0, 1, 0, 100, 0, 1}));
}

TEST(Use, TakesANumberThatWentBackForANewOne) {
  EXPECT_EQ((Use{.reads = 3}.since({.reads = 10})).reads, 3U);
}

TEST(Use, StopsAtTheLargestNumber) {
  Use sum{.reads = kMost - 1, .bytes_read = kMost};
  sum += {.reads = 5, .bytes_read = kMost};
  EXPECT_EQ(sum.reads, kMost);
  EXPECT_EQ(sum.bytes_read, kMost);
}

TEST(UseReport, TakesNoMoreThanItsLimit) {
  UseReport report;
  report.entries.resize(UseReport::kMaxEntries);
  EXPECT_TRUE(UseReport::decode(samples::encode(report)));
  report.entries.emplace_back();
  EXPECT_FALSE(UseReport::decode(samples::encode(report)));
}

TEST(UseReport, OfTheLargestSizeFitsAMessage) {
  UseReport report;
  report.entries.resize(UseReport::kMaxEntries);
  EXPECT_LE(samples::encode(report).size(), kMaxMessage - kHeaderSize);
}

TEST(UseReport, MayBeAboutNothing) {
  const auto report = UseReport::decode(samples::encode(UseReport{}));
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->entries.empty());
}

}  // namespace
}  // namespace rdmablk::protocol
