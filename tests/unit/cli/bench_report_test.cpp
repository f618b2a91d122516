#include "initiator/cli/bench_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace rdmablk::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

BenchOptions options(Workload workload) {
  BenchOptions options;
  options.uri = {{"host", 10812}, "disk"};
  options.workload = workload;
  options.block_size = 1U << 20U;
  options.depth = 4;
  options.queues = 2;
  options.read_percent = 70;
  return options;
}

/// 200 reads of 10 us and 100 writes of 1 ms in two seconds.
BenchResult result() {
  BenchResult result;
  for (int i = 0; i < 200; ++i) result.reads.add(std::chrono::microseconds(10));
  for (int i = 0; i < 100; ++i) result.writes.add(std::chrono::milliseconds(1));
  result.elapsed = std::chrono::seconds(2);
  return result;
}

TEST(BenchJson, HasTheFiguresOfBothDirections) {
  const Json json = bench_json(options(Workload::randrw), result());
  EXPECT_EQ(json["version"], 1);
  EXPECT_EQ(json["uri"], "rdmablk://host:10812/disk");
  EXPECT_EQ(json["rw"], "randrw");
  EXPECT_EQ(json["block_size_bytes"], 1U << 20U);
  EXPECT_EQ(json["depth"], 4);
  EXPECT_EQ(json["queues"], 2);
  EXPECT_EQ(json["elapsed_ns"], 2'000'000'000);
  EXPECT_EQ(json["interrupted"], false);
  EXPECT_EQ(json["read_percent"], 70);
  const Json& read = json["read"];
  EXPECT_EQ(read["operations"], 200);
  EXPECT_EQ(read["transferred_bytes"], 200U << 20U);
  EXPECT_EQ(read["iops"], 100.0);
  EXPECT_EQ(read["bandwidth_bytes_per_second"], 100U << 20U);
  EXPECT_EQ(read["bandwidth_mib_per_second"], 100.0);
  for (const char* key : {"latency_min_ns", "latency_mean_ns", "latency_p50_ns", "latency_p99_ns",
                          "latency_p99_9_ns", "latency_max_ns"}) {
    EXPECT_EQ(read[key], 10'000) << key;
    EXPECT_EQ(json["write"][key], 1'000'000) << key;
  }
}

TEST(BenchJson, HasOnlyTheDirectionsOfTheWorkload) {
  const Json reads = bench_json(options(Workload::read), result());
  EXPECT_TRUE(reads.contains("read"));
  EXPECT_FALSE(reads.contains("write"));
  EXPECT_FALSE(reads.contains("read_percent"));
  const Json writes = bench_json(options(Workload::randwrite), result());
  EXPECT_FALSE(writes.contains("read"));
  EXPECT_TRUE(writes.contains("write"));
}

TEST(BenchJson, HoldsNumbersWhenNothingEnded) {
  const Json json = bench_json(options(Workload::read), BenchResult{});
  EXPECT_EQ(json["read"]["iops"], 0.0);
  EXPECT_EQ(json["read"]["latency_p99_ns"], 0);
}

TEST(BenchText, ShowsTheFiguresInUnitsForPeople) {
  const std::string text = bench_text(options(Workload::randrw), result());
  EXPECT_THAT(text, HasSubstr("randrw, 1 MiB a request, depth 4, 2 queues, 2.00 s\n"));
  EXPECT_THAT(text, HasSubstr("IOPS"));
  EXPECT_THAT(text, HasSubstr("100.0"));
  EXPECT_THAT(text, HasSubstr("10.0 us"));
  EXPECT_THAT(text, HasSubstr("1.00 ms"));
}

TEST(BenchText, SaysThatItWasInterrupted) {
  BenchResult early = result();
  EXPECT_THAT(bench_text(options(Workload::read), early), Not(HasSubstr("interrupted")));
  early.interrupted = true;
  EXPECT_THAT(bench_text(options(Workload::read), early), HasSubstr("(interrupted)"));
}

}  // namespace
}  // namespace rdmablk::cli
