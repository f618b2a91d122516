#include "common/metrics/latency_histogram.h"

#include <gtest/gtest.h>

namespace rdmablk::metrics {
namespace {

using namespace std::chrono_literals;

std::size_t bucket_of(std::chrono::nanoseconds time) {
  LatencyHistogram histogram;
  histogram.add(time);
  const LatencyFigures figures = histogram.figures();
  for (std::size_t i = 0; i < LatencyFigures::kBuckets; ++i) {
    if (figures.buckets[i] == 1) return i;
  }
  return LatencyFigures::kBuckets;
}

TEST(LatencyHistogram, PutsEachTimeBelowItsBound) {
  for (std::size_t bucket = 0; bucket < LatencyFigures::kBounded; ++bucket) {
    const auto bound = std::chrono::nanoseconds(1000) * (std::int64_t{1} << bucket);
    EXPECT_EQ(bucket_of(bound), bucket);
    EXPECT_EQ(bucket_of(bound - 1ns), bucket);
    EXPECT_EQ(bucket_of(bound + 1ns), bucket + 1);
    EXPECT_DOUBLE_EQ(LatencyFigures::bound(bucket), std::chrono::duration<double>(bound).count());
  }
}

TEST(LatencyHistogram, TakesAnyTime) {
  EXPECT_EQ(bucket_of(0ns), 0U);
  EXPECT_EQ(bucket_of(-1ns), 0U);
  EXPECT_EQ(bucket_of(1h), LatencyFigures::kBounded);
  EXPECT_EQ(bucket_of(std::chrono::nanoseconds::max()), LatencyFigures::kBounded);
}

TEST(LatencyHistogram, AddsUp) {
  LatencyHistogram one;
  one.add(2us);
  one.add(5us);
  LatencyHistogram other;
  other.add(2us);
  LatencyFigures sum = one.figures();
  sum += other.figures();
  EXPECT_EQ(sum.count(), 3U);
  EXPECT_EQ(sum.sum, 9us);
  EXPECT_EQ(sum.buckets[1], 2U);
}

}  // namespace
}  // namespace rdmablk::metrics
