#include "initiator/cli/bench_workforce.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>

#include "common/error.h"
#include "tests/unit/cli/scripted_image.h"

namespace rdmablk::cli {
namespace {

using initiator::Operation;
using initiator::Request;

/// Longer than any test runs.
constexpr std::chrono::hours kForever(1);

constexpr std::uint64_t kSize = 1U << 20U;

BenchOptions options(Workload workload, unsigned queues = 1) {
  BenchOptions options;
  options.uri = {{"host", 1}, "disk"};
  options.workload = workload;
  options.block_size = 4096;
  options.depth = 8;
  options.queues = queues;
  options.time = std::chrono::milliseconds(50);
  options.read_percent = 50;
  return options;
}

BenchResult run(initiator::Image& image, const BenchOptions& options) {
  BenchWorkforce workforce(image, options, {0, kSize});
  return workforce.run();
}

TEST(BenchWorkforce, CountsReads) {
  std::atomic<unsigned> submitted = 0;
  ScriptedImage image(kSize, [&](const Request& request, unsigned) {
    EXPECT_EQ(request.operation, Operation::read);
    EXPECT_LE(request.offset + request.length, kSize);
    ++submitted;
    return 0;
  });
  const BenchResult result = run(image, options(Workload::randread));
  constexpr unsigned kWarmUp = 8;
  EXPECT_EQ(result.reads.count() + kWarmUp, submitted);
  EXPECT_GT(result.reads.count(), 0U);
  EXPECT_EQ(result.writes.count(), 0U);
  EXPECT_GE(result.elapsed, std::chrono::milliseconds(50));
  EXPECT_FALSE(result.interrupted);
}

TEST(BenchWorkforce, AddsUpItsQueues) {
  std::atomic<unsigned> submitted = 0;
  ScriptedImage image(kSize, [&](const Request&, unsigned) {
    ++submitted;
    return 0;
  });
  const BenchResult result = run(image, options(Workload::randrw, 3));
  constexpr unsigned kWarmUp = 3 * 8;
  EXPECT_EQ(result.reads.count() + result.writes.count() + kWarmUp, submitted);
  EXPECT_GT(result.reads.count(), 0U);
  EXPECT_GT(result.writes.count(), 0U);
}

TEST(BenchWorkforce, EndsWithTheFirstError) {
  ScriptedImage image(kSize,
                      [](const Request&, unsigned number) { return number == 100 ? EIO : 0; });
  BenchOptions endless = options(Workload::write, 2);
  endless.time = kForever;
  try {
    run(image, endless);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::MatchesRegex("cannot write 4096 bytes at offset [0-9]+ of "
                                                    "rdmablk://host:1/disk: Input/output error"));
  }
}

TEST(BenchWorkforce, EndsWhenTheWarmUpFails) {
  ScriptedImage image(kSize, [](const Request&, unsigned number) { return number == 3 ? EIO : 0; });
  BenchOptions endless = options(Workload::read, 2);
  endless.time = kForever;
  EXPECT_THROW(run(image, endless), Error);
}

TEST(BenchWorkforce, GivesItsFiguresWhenInterrupted) {
  ScriptedImage image(kSize, [](const Request&, unsigned number) {
    if (number == 1000) kill(getpid(), SIGINT);
    return 0;
  });
  BenchOptions endless = options(Workload::read);
  endless.time = kForever;
  const BenchResult result = run(image, endless);
  EXPECT_TRUE(result.interrupted);
  EXPECT_GE(result.reads.count(), 900U);
}

TEST(BenchWorkforce, LeavesSignalsAsTheyWere) {
  ScriptedImage image(kSize, [](const Request&, unsigned) { return 0; });
  run(image, options(Workload::read));
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGINT), 0);
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 0);
}

TEST(BenchWorkforce, EndsWithoutEverRunning) {
  ScriptedImage image(kSize, [](const Request&, unsigned) { return 0; });
  const BenchOptions idle = options(Workload::read, 4);
  const BenchWorkforce workforce(image, idle, {0, kSize});
}

}  // namespace
}  // namespace rdmablk::cli
