#include "initiator/cli/latency_histogram.h"

#include <algorithm>
#include <boost/histogram/indexed.hpp>
#include <cmath>
#include <functional>

namespace rdmablk::cli {
namespace {

/// From 100 ns to 100 s; what lies outside goes to a bin of its own at either end.
constexpr double kFirst = 1e2;
constexpr double kLast = 1e11;
constexpr unsigned kBinsPerDecade = 200;
constexpr unsigned kDecades = 9;

}  // namespace

LatencyHistogram::LatencyHistogram()
    : bins_(boost::histogram::make_histogram_with(boost::histogram::dense_storage<std::uint64_t>(),
                                                  Axis(kBinsPerDecade * kDecades, kFirst, kLast))) {
}

void LatencyHistogram::add(std::chrono::nanoseconds latency) noexcept {
  const auto nanoseconds = static_cast<std::uint64_t>(std::max<std::int64_t>(latency.count(), 0));
  bins_(static_cast<double>(nanoseconds));
  ++count_;
  min_ = std::min(min_, nanoseconds);
  max_ = std::max(max_, nanoseconds);
  sum_ += nanoseconds;
}

void LatencyHistogram::merge(const LatencyHistogram& other) {
  // All have the same axis, thus the same bins in the same order.
  std::transform(bins_.begin(), bins_.end(), other.bins_.begin(), bins_.begin(), std::plus<>());
  count_ += other.count_;
  min_ = std::min(min_, other.min_);
  max_ = std::max(max_, other.max_);
  sum_ += other.sum_;
}

double LatencyHistogram::mean() const noexcept {
  return count_ == 0 ? 0 : static_cast<double>(sum_) / static_cast<double>(count_);
}

double LatencyHistogram::percentile(double share) const {
  if (count_ == 0) return 0;
  const auto rank = static_cast<std::uint64_t>(std::ceil(share * static_cast<double>(count_)));
  const auto& axis = bins_.axis();
  std::uint64_t seen = 0;
  // With the bins for what lies outside: -1 and size().
  for (const auto& bin : boost::histogram::indexed(bins_, boost::histogram::coverage::all)) {
    seen += *bin;
    if (seen < rank) continue;
    const int index = bin.index();
    const double middle = std::sqrt(axis.value(index) * axis.value(index + 1));
    return std::clamp(index == axis.size() ? static_cast<double>(max_) : middle,
                      static_cast<double>(min_), static_cast<double>(max_));
  }
  return static_cast<double>(max_);
}

}  // namespace rdmablk::cli
