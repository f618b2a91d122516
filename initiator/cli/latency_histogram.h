#pragma once

#include <boost/histogram/axis/regular.hpp>
#include <boost/histogram/histogram.hpp>
#include <boost/histogram/make_histogram.hpp>
#include <boost/histogram/storage_adaptor.hpp>
#include <chrono>
#include <cstdint>
#include <tuple>

namespace rdmablk::cli {

/// Counts how long requests took. Bins are 1.2 % wide, so that a percentile is off by no more than
/// that; the number, the least, the largest and the mean are exact. Adding allocates nothing.
class LatencyHistogram {
 public:
  LatencyHistogram();

  void add(std::chrono::nanoseconds latency) noexcept;

  /// Takes over what another counted.
  void merge(const LatencyHistogram& other);

  std::uint64_t count() const noexcept { return count_; }

  /// In nanoseconds; zero as long as nothing was added.
  std::uint64_t min() const noexcept { return count_ == 0 ? 0 : min_; }
  std::uint64_t max() const noexcept { return max_; }
  double mean() const noexcept;

  /// The latency, in nanoseconds, that a share of the requests did not exceed.
  /// @param share above 0, at most 1: 0.99 is the 99th percentile.
  double percentile(double share) const;

 private:
  using Axis = boost::histogram::axis::regular<double, boost::histogram::axis::transform::log>;
  using Bins = decltype(boost::histogram::make_histogram_with(
      boost::histogram::dense_storage<std::uint64_t>(), std::declval<Axis>()));

  Bins bins_;
  std::uint64_t count_ = 0;
  std::uint64_t min_ = UINT64_MAX;
  std::uint64_t max_ = 0;
  std::uint64_t sum_ = 0;  ///< nanoseconds: enough for 584 years
};

}  // namespace rdmablk::cli
