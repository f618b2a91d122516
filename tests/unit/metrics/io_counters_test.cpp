#include "common/metrics/io_counters.h"

#include <gtest/gtest.h>

namespace rdmablk::metrics {
namespace {

using namespace std::chrono_literals;

TEST(IoCounters, CountByKind) {
  IoCounters counters;
  counters.begin(IoKind::read);
  counters.begin(IoKind::write);
  counters.begin(IoKind::write);
  counters.end(IoKind::read, 4096, 0, 3us);
  counters.end(IoKind::write, 512, ENOSPC, 4us);
  const IoFigures figures = counters.figures();
  EXPECT_EQ(figures.of(IoKind::read).ended, 1U);
  EXPECT_EQ(figures.of(IoKind::read).bytes, 4096U);
  EXPECT_EQ(figures.of(IoKind::read).failed(), 0U);
  EXPECT_EQ(figures.of(IoKind::read).latency.sum, 3us);
  EXPECT_EQ(figures.of(IoKind::write).begun, 2U);
  EXPECT_EQ(figures.of(IoKind::write).ended, 1U);
  EXPECT_EQ(figures.of(IoKind::write).bytes, 0U) << "it failed";
  EXPECT_EQ(figures.of(IoKind::write).errors[static_cast<std::size_t>(ErrorKind::no_space)], 1U);
  EXPECT_EQ(figures.in_flight(), 1U);
}

TEST(IoCounters, OfSeveralThreadsAddUp) {
  IoCounters one;
  IoCounters other;
  one.begin(IoKind::flush);
  one.end(IoKind::flush, 0, 0, 1ms);
  other.begin(IoKind::flush);
  other.end(IoKind::flush, 0, EIO, 2ms);
  IoFigures sum = one.figures();
  sum += other.figures();
  EXPECT_EQ(sum.of(IoKind::flush).ended, 2U);
  EXPECT_EQ(sum.of(IoKind::flush).failed(), 1U);
  EXPECT_EQ(sum.of(IoKind::flush).latency.sum, 3ms);
  EXPECT_EQ(sum.in_flight(), 0U);
}

TEST(IoFigures, ThatAreBlurredHaveNothingLessThanNothingInFlight) {
  IoFigures figures;
  figures.kinds[0].ended = 5;
  EXPECT_EQ(figures.in_flight(), 0U);
}

TEST(ErrorKinds, EachHasAName) {
  for (int error = 1; error < 200; ++error) {
    EXPECT_LT(static_cast<std::size_t>(error_kind(error)), kErrorKinds);
  }
  EXPECT_STREQ(kErrorKindNames[static_cast<std::size_t>(error_kind(EINTR))], "interrupted");
  EXPECT_STREQ(kErrorKindNames[static_cast<std::size_t>(error_kind(ENOMEM))], "other");
}

}  // namespace
}  // namespace rdmablk::metrics
