#include "initiator/cli/bench_options.h"

#include <gtest/gtest.h>

#include "common/error.h"

namespace rdmablk::cli {
namespace {

BenchArguments arguments() {
  BenchArguments arguments;
  arguments.uri = "rdmablk://host/disk";
  return arguments;
}

TEST(BenchOptions, HaveDefaults) {
  const BenchOptions options = read_bench_arguments(arguments());
  EXPECT_EQ(options.uri.export_name, "disk");
  EXPECT_EQ(options.workload, Workload::randread);
  EXPECT_EQ(options.block_size, 4096U);
  EXPECT_EQ(options.depth, 32U);
  EXPECT_EQ(options.queues, 1U);
  EXPECT_EQ(options.time, std::chrono::seconds(5));
  EXPECT_EQ(options.read_percent, 70U);
  EXPECT_EQ(options.offset, 0U);
  EXPECT_EQ(options.size, std::nullopt);
}

TEST(BenchOptions, TakeWhatIsTyped) {
  BenchArguments typed = arguments();
  typed.rw = "randrw";
  typed.block_size = "1M";
  typed.depth = "4";
  typed.queues = "64";
  typed.time = "0.25";
  typed.read_percent = "0";
  typed.offset = "4k";
  typed.size = "2G";
  const BenchOptions options = read_bench_arguments(typed);
  EXPECT_EQ(options.workload, Workload::randrw);
  EXPECT_EQ(options.block_size, 1U << 20U);
  EXPECT_EQ(options.depth, 4U);
  EXPECT_EQ(options.queues, 64U);
  EXPECT_EQ(options.time, std::chrono::milliseconds(250));
  EXPECT_EQ(options.read_percent, 0U);
  EXPECT_EQ(options.offset, 4096U);
  EXPECT_EQ(options.size, std::uint64_t{2} << 30U);
}

TEST(BenchOptions, KnowEveryWorkload) {
  struct Expected {
    const char* name;
    bool reads;
    bool writes;
    bool random;
  };
  for (const Expected& expected : {Expected{"read", true, false, false},
                                   {"write", false, true, false},
                                   {"randread", true, false, true},
                                   {"randwrite", false, true, true},
                                   {"randrw", true, true, true}}) {
    BenchArguments typed = arguments();
    typed.rw = expected.name;
    const Workload workload = read_bench_arguments(typed).workload;
    EXPECT_EQ(has_reads(workload), expected.reads) << expected.name;
    EXPECT_EQ(has_writes(workload), expected.writes) << expected.name;
    EXPECT_EQ(is_random(workload), expected.random) << expected.name;
    EXPECT_STREQ(workload_name(workload), expected.name);
  }
}

TEST(BenchOptions, TakeTimesInSeconds) {
  const auto time = [](const char* text) {
    BenchArguments typed = arguments();
    typed.time = text;
    return read_bench_arguments(typed).time.count();
  };
  EXPECT_EQ(time("1"), 1000);
  EXPECT_EQ(time("86400"), 86400000);
  EXPECT_EQ(time("1.5"), 1500);
  EXPECT_EQ(time("0.001"), 1);
  EXPECT_EQ(time("10.05"), 10050);
}

struct BadArgument {
  std::string BenchArguments::*field;
  const char* option;
  const char* value;
};

class BadArguments : public testing::TestWithParam<BadArgument> {};

TEST_P(BadArguments, AreRefusedInOneLineThatNamesThem) {
  BenchArguments typed = arguments();
  typed.*GetParam().field = GetParam().value;
  try {
    read_bench_arguments(typed);
    FAIL() << GetParam().option << " " << GetParam().value;
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find(GetParam().option), std::string::npos) << text;
    EXPECT_NE(text.find(GetParam().value), std::string::npos) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Bench, BadArguments,
    testing::Values(BadArgument{&BenchArguments::rw, "--rw", "trim"},
                    BadArgument{&BenchArguments::rw, "--rw", "READ"},
                    BadArgument{&BenchArguments::block_size, "--bs", "0"},
                    BadArgument{&BenchArguments::block_size, "--bs", "-4k"},
                    BadArgument{&BenchArguments::block_size, "--bs", "4x"},
                    BadArgument{&BenchArguments::block_size, "--bs", "1125899906842624"},
                    BadArgument{&BenchArguments::depth, "--depth", "0"},
                    BadArgument{&BenchArguments::depth, "--depth", "4097"},
                    BadArgument{&BenchArguments::depth, "--depth", "-1"},
                    BadArgument{&BenchArguments::depth, "--depth", "many"},
                    BadArgument{&BenchArguments::queues, "--queues", "0"},
                    BadArgument{&BenchArguments::queues, "--queues", "65"},
                    BadArgument{&BenchArguments::time, "--time", "0"},
                    BadArgument{&BenchArguments::time, "--time", "0.000"},
                    BadArgument{&BenchArguments::time, "--time", "0.0001"},
                    BadArgument{&BenchArguments::time, "--time", "5."},
                    BadArgument{&BenchArguments::time, "--time", ".5"},
                    BadArgument{&BenchArguments::time, "--time", "5s"},
                    BadArgument{&BenchArguments::time, "--time", "-1"},
                    BadArgument{&BenchArguments::time, "--time", "1.2.3"},
                    BadArgument{&BenchArguments::time, "--time", "86400.001"},
                    BadArgument{&BenchArguments::read_percent, "--rwmixread", "101"},
                    BadArgument{&BenchArguments::offset, "--offset", "-1"},
                    BadArgument{&BenchArguments::size, "--size", "0"}));

TEST(BenchOptions, RefuseABadUri) {
  BenchArguments typed = arguments();
  typed.uri = "host/disk";
  EXPECT_THROW(read_bench_arguments(typed), UsageError);
}

BenchOptions with_range(std::uint64_t offset, std::optional<std::uint64_t> size) {
  BenchOptions options = read_bench_arguments(arguments());
  options.offset = offset;
  options.size = size;
  return options;
}

TEST(BenchRange, IsTheWholeExportByDefault) {
  const BenchRange range = bench_range(with_range(0, std::nullopt), 10000);
  EXPECT_EQ(range.offset, 0U);
  EXPECT_EQ(range.size, 10000U);
}

TEST(BenchRange, IsTheRestBehindAnOffset) {
  const BenchRange range = bench_range(with_range(1000, std::nullopt), 10000);
  EXPECT_EQ(range.offset, 1000U);
  EXPECT_EQ(range.size, 9000U);
}

TEST(BenchRange, MayEndWithTheExport) {
  EXPECT_EQ(bench_range(with_range(5904, 4096), 10000).size, 4096U);
  EXPECT_THROW(bench_range(with_range(5905, 4096), 10000), UsageError);
}

TEST(BenchRange, DoesNotLeaveTheExport) {
  EXPECT_THROW(bench_range(with_range(10000, std::nullopt), 10000), UsageError);
  EXPECT_THROW(bench_range(with_range(UINT64_MAX, std::nullopt), 10000), UsageError);
  EXPECT_THROW(bench_range(with_range(1, UINT64_MAX), 10000), UsageError);
}

TEST(BenchRange, HoldsABlock) {
  EXPECT_THROW(bench_range(with_range(0, std::nullopt), 4095), UsageError);
  EXPECT_THROW(bench_range(with_range(0, 4095), 10000), UsageError);
  EXPECT_EQ(bench_range(with_range(0, std::nullopt), 4096).size, 4096U);
}

}  // namespace
}  // namespace rdmablk::cli
