#include "common/metrics/metrics_address.h"

#include <gtest/gtest.h>

#include "common/error.h"

namespace rdmablk::metrics {
namespace {

TEST(MetricsAddress, IsLoopbackUnlessItSaysOtherwise) {
  EXPECT_EQ(parse_metrics_address("--metrics", "9464"), (HostPort{"127.0.0.1", 9464}));
  EXPECT_EQ(parse_metrics_address("--metrics", "0"), (HostPort{"127.0.0.1", 0}));
  EXPECT_EQ(parse_metrics_address("--metrics", "192.0.2.1:9464"), (HostPort{"192.0.2.1", 9464}));
  EXPECT_EQ(parse_metrics_address("--metrics", "0.0.0.0:0"), (HostPort{"0.0.0.0", 0}));
  EXPECT_EQ(parse_metrics_address("--metrics", "[::1]:9464"), (HostPort{"::1", 9464}));
}

TEST(MetricsAddress, NeedsAPort) {
  for (const char* text : {"", "localhost", "localhost:", ":9464", "localhost:65536", "-1", "9464 ",
                           "a b:9464", "[::1", "[::1]"}) {
    EXPECT_THROW(parse_metrics_address("--metrics", text), UsageError) << text;
  }
}

}  // namespace
}  // namespace rdmablk::metrics
