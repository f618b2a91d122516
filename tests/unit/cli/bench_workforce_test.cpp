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

/// An image some of whose requests never come back.
class SilentImage final : public initiator::Image {
 public:
  /// @param answered how many of a queue's requests do.
  explicit SilentImage(unsigned answered) : answered_(answered) { info_.size = kSize; }

  const initiator::ImageInfo& info() const noexcept override { return info_; }
  std::unique_ptr<initiator::Queue> make_queue(unsigned /*depth*/) override {
    return std::make_unique<SilentQueue>(answered_);
  }
  std::unique_ptr<initiator::RequestBuffers> make_buffers(std::size_t bytes) override {
    return std::make_unique<initiator::RequestBuffers>(bytes);
  }

 private:
  class SilentQueue final : public initiator::Queue {
   public:
    explicit SilentQueue(unsigned answered) : left_(answered) {}
    void submit(Request& request) noexcept override {
      if (left_ == 0) return;
      --left_;
      done_.push(request);
    }
    void kick() noexcept override {}
    std::size_t poll(std::span<Request*> done) noexcept override {
      std::size_t count = 0;
      while (count < done.size() && !done_.empty()) done[count++] = &done_.pop();
      return count;
    }
    int fd() const noexcept override { return -1; }
    void arm() noexcept override {}

   private:
    unsigned left_;
    initiator::RequestList done_;
  };

  unsigned answered_;
  initiator::ImageInfo info_;
};

TEST(BenchWorkforce, GivesUpWhatDoesNotComeBack) {
  SilentImage image(100);
  const BenchResult result = run(image, options(Workload::randread, 2));
  EXPECT_EQ(result.unfinished, 16U);
  EXPECT_EQ(result.reads.count(), 2 * (100U - 8U));
  EXPECT_FALSE(result.interrupted);
}

/// Nothing comes back, from the first request on: a signal ends it.
TEST(BenchWorkforce, IsInterruptedBeforeItBegan) {
  SilentImage image(0);
  BenchOptions endless = options(Workload::randread, 2);
  endless.time = kForever;
  BenchWorkforce workforce(image, endless, {0, kSize});
  kill(getpid(), SIGTERM);  // waits until it is looked for
  const BenchResult result = workforce.run();
  EXPECT_EQ(result.unfinished, 16U);
  EXPECT_EQ(result.reads.count(), 0U);
  EXPECT_TRUE(result.interrupted);
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
