#include "initiator/cli/latency_histogram.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <vector>

namespace rdmablk::cli {
namespace {

using std::chrono::nanoseconds;

/// What the histogram promises.
constexpr double kTolerance = 0.012;

/// Latencies around 20 us with a long tail, as a busy queue has them.
std::vector<std::uint64_t> latencies(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::lognormal_distribution<double> distribution(std::log(20e3), 1.5);
  std::vector<std::uint64_t> values(count);
  for (auto& value : values) value = static_cast<std::uint64_t>(distribution(random));
  return values;
}

LatencyHistogram count(const std::vector<std::uint64_t>& values) {
  LatencyHistogram histogram;
  for (const auto value : values) histogram.add(nanoseconds(value));
  return histogram;
}

/// The value that a share of the sorted values does not exceed.
double percentile_of(std::vector<std::uint64_t> values, double share) {
  std::sort(values.begin(), values.end());
  const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(values.size())));
  return static_cast<double>(values[rank - 1]);
}

void expect_percentiles(const LatencyHistogram& histogram,
                        const std::vector<std::uint64_t>& values) {
  for (const double share : {0.001, 0.01, 0.5, 0.9, 0.99, 0.999, 0.9999, 1.0}) {
    const double expected = percentile_of(values, share);
    EXPECT_NEAR(histogram.percentile(share), expected, expected * kTolerance) << share;
  }
}

TEST(LatencyHistogram, AgreesWithSortedValues) {
  for (const std::size_t size : {1U, 2U, 10U, 1000U, 100000U}) {
    const auto values = latencies(size, static_cast<unsigned>(size));
    expect_percentiles(count(values), values);
  }
}

TEST(LatencyHistogram, IsExactAboutTheEndsAndTheMean) {
  const auto values = latencies(10000, 1);
  const LatencyHistogram histogram = count(values);
  EXPECT_EQ(histogram.count(), values.size());
  EXPECT_EQ(histogram.min(), *std::min_element(values.begin(), values.end()));
  EXPECT_EQ(histogram.max(), *std::max_element(values.begin(), values.end()));
  const double sum = std::accumulate(values.begin(), values.end(), 0.0);
  EXPECT_DOUBLE_EQ(histogram.mean(), sum / static_cast<double>(values.size()));
}

TEST(LatencyHistogram, MergesAsIfCountedTogether) {
  auto all = latencies(5000, 2);
  const auto others = latencies(3000, 3);
  LatencyHistogram merged = count(all);
  merged.merge(count(others));
  all.insert(all.end(), others.begin(), others.end());
  const LatencyHistogram together = count(all);
  EXPECT_EQ(merged.count(), together.count());
  EXPECT_EQ(merged.min(), together.min());
  EXPECT_EQ(merged.max(), together.max());
  EXPECT_DOUBLE_EQ(merged.mean(), together.mean());
  expect_percentiles(merged, all);
}

TEST(LatencyHistogram, IsZeroWhenEmpty) {
  const LatencyHistogram histogram;
  EXPECT_EQ(histogram.count(), 0U);
  EXPECT_EQ(histogram.min(), 0U);
  EXPECT_EQ(histogram.max(), 0U);
  EXPECT_EQ(histogram.mean(), 0);
  EXPECT_EQ(histogram.percentile(0.99), 0);
}

TEST(LatencyHistogram, MergesWithAnEmptyOne) {
  LatencyHistogram histogram;
  histogram.merge(count({1000}));
  histogram.merge(LatencyHistogram());
  EXPECT_EQ(histogram.min(), 1000U);
  EXPECT_EQ(histogram.percentile(0.5), 1000);
}

TEST(LatencyHistogram, HasRoomForTheShortestAndTheLongest) {
  const LatencyHistogram histogram = count({0, 1, 99, 200'000'000'000, 300'000'000'000});
  EXPECT_EQ(histogram.count(), 5U);
  EXPECT_EQ(histogram.min(), 0U);
  EXPECT_EQ(histogram.max(), 300'000'000'000U);
  EXPECT_LE(histogram.percentile(0.5), 100);
  EXPECT_EQ(histogram.percentile(1), 300e9);
}

TEST(LatencyHistogram, CountsAClockThatWentBackAsNothing) {
  LatencyHistogram histogram;
  histogram.add(nanoseconds(-5));
  EXPECT_EQ(histogram.min(), 0U);
  EXPECT_EQ(histogram.max(), 0U);
}

}  // namespace
}  // namespace rdmablk::cli
