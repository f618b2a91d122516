#include "common/metrics/exposition.h"

#include <gmock/gmock.h>

namespace rdmablk::metrics {
namespace {

using namespace std::chrono_literals;
using testing::HasSubstr;
using testing::Not;

TEST(Exposition, HasAHeadForAllMetricsOfAName) {
  Exposition out;
  out.counter("a_total", "What a is.", 3, {{"of", "x"}});
  out.gauge("b_bytes", "What b is.", 1.5);
  out.counter("a_total", "What a is.", 4, {{"of", "y"}});
  EXPECT_EQ(out.text(),
            "# HELP a_total What a is.\n# TYPE a_total counter\n"
            "a_total{of=\"x\"} 3\na_total{of=\"y\"} 4\n"
            "# HELP b_bytes What b is.\n# TYPE b_bytes gauge\nb_bytes 1.5\n");
}

TEST(Exposition, KeepsLabelsWithinTheirQuotes) {
  Exposition out;
  out.gauge("a", "What a is.", 1, {{"of", "x\"} 7\nevil 1\\"}});
  EXPECT_THAT(out.text(), HasSubstr("a{of=\"x\\\"} 7\\nevil 1\\\\\"} 1\n"));
}

TEST(Exposition, CountsUpTheBucketsOfAHistogram) {
  LatencyHistogram times;
  times.add(1us);
  times.add(3us);
  times.add(1h);
  Exposition out;
  out.histogram("t_seconds", "What t is.", times.figures());
  const std::string text = out.text();
  EXPECT_THAT(text, HasSubstr("t_seconds_bucket{le=\"1e-06\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("t_seconds_bucket{le=\"4e-06\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("t_seconds_bucket{le=\"33.554432\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("t_seconds_bucket{le=\"+Inf\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("t_seconds_count 3\n"));
}

TEST(Exposition, ShowsRequests) {
  IoCounters counters;
  counters.begin(IoKind::read);
  counters.end(IoKind::read, 4096, 0, 3us);
  counters.begin(IoKind::flush);
  counters.end(IoKind::flush, 0, EIO, 3us);
  Exposition out;
  out.io("x", counters.figures(), {{"export", "disk"}});
  const std::string text = out.text();
  EXPECT_THAT(text, HasSubstr("x_requests_total{export=\"disk\",operation=\"read\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("x_bytes_total{export=\"disk\",operation=\"read\"} 4096\n"));
  EXPECT_THAT(text, HasSubstr("x_errors_total{export=\"disk\",operation=\"flush\",kind=\"io\"} 1"));
  EXPECT_THAT(text, Not(HasSubstr("x_bytes_total{export=\"disk\",operation=\"flush\"}")));
}

}  // namespace
}  // namespace rdmablk::metrics
