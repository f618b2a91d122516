#include "initiator/copy/crew.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <functional>
#include <utility>

#include "common/error.h"
#include "initiator/copy/copy_worker.h"
#include "initiator/copy/stream_image.h"
#include "tests/unit/copy/memory_image.h"

namespace rdmablk::copy {
namespace {

constexpr std::size_t kBlock = 512;
constexpr std::size_t kSize = 1000 * kBlock;

std::string text(std::uint64_t bytes) {
  return "interrupted after " + std::to_string(bytes);
}

class CrewTest : public testing::Test {
 protected:
  /// Copies by two workers. Throws what the crew throws.
  void run() {
    cli::TerminationSignals termination;
    CopyPlan plan({kSize, kBlock, kBlock, {}});
    const Ends ends{{&source}, {&destination}};
    std::array<Lane, 2> lanes{Lane{ends, 4, kBlock}, Lane{ends, 4, kBlock}};
    std::vector<std::unique_ptr<PieceWorker>> workers;
    for (Lane& lane : lanes) {
      workers.push_back(std::make_unique<CopyWorker>(lane, plan, CopyWorker::Options{}));
    }
    Progress progress("copying", kSize, false);
    Crew(workers, plan, termination, text).run(progress);
    for (const auto& worker : workers) failed = failed || worker->failure();
  }

  MemoryImage source{kSize};
  MemoryImage destination{kSize};
  bool failed = false;
};

TEST_F(CrewTest, SharesTheWork) {
  for (std::size_t i = 0; i < kSize; ++i) source.bytes[i] = std::byte(i / kBlock % 255 + 1);
  run();
  EXPECT_EQ(destination.bytes, source.bytes);
  EXPECT_EQ(destination.count(initiator::Operation::write), kSize / kBlock);
  EXPECT_FALSE(failed);
}

TEST_F(CrewTest, StopsAllWhenOneFails) {
  destination.fails = [](const initiator::Request& request) {
    return request.offset == 10 * kBlock ? EIO : 0;
  };
  run();
  EXPECT_TRUE(failed);
}

TEST_F(CrewTest, EndsAtASignal) {
  destination.fails = [](const initiator::Request& request) {
    // By the thread itself, so that it is there before anything else is asked for.
    if (request.offset == 10 * kBlock) ::kill(::getpid(), SIGINT);
    return 0;
  };
  // Whether the signal is noticed before all is done is up to the scheduler.
  try {
    run();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), testing::StartsWith("interrupted after "));
  }
}

/// Whose requests never end, as those to a target that is stopped.
class SilentImage final : public initiator::Image {
 public:
  const initiator::ImageInfo& info() const noexcept override { return info_; }
  std::unique_ptr<initiator::Queue> make_queue(unsigned /*depth*/) override {
    return std::make_unique<SilentQueue>();
  }
  std::unique_ptr<initiator::RequestBuffers> make_buffers(std::size_t bytes) override {
    return std::make_unique<initiator::RequestBuffers>(bytes);
  }

 private:
  class SilentQueue final : public initiator::Queue {
   public:
    void submit(initiator::Request& /*request*/) noexcept override {}
    void kick() noexcept override {
      if (!std::exchange(is_interrupted_, true)) ::kill(::getpid(), SIGINT);
    }
    std::size_t poll(std::span<initiator::Request*> /*done*/) noexcept override { return 0; }
    int fd() const noexcept override { return -1; }
    void arm() noexcept override {}

   private:
    bool is_interrupted_ = false;
  };

  initiator::ImageInfo info_;
};

TEST(CrewDeathTest, DoesNotWaitForWhatDoesNotComeBack) {
  testing::FLAGS_gtest_death_test_style = "threadsafe";
  const auto wait_for_ever = [] {
    SilentImage source;
    MemoryImage destination(kSize);
    cli::TerminationSignals termination;
    CopyPlan plan({kSize, kBlock, kBlock, {}});
    Lane lane({{&source}, {&destination}}, 4, kBlock);
    std::vector<std::unique_ptr<PieceWorker>> workers;
    workers.push_back(std::make_unique<CopyWorker>(lane, plan, CopyWorker::Options{}));
    Progress progress("copying", kSize, false);
    Crew(workers, plan, termination, text).run(progress);
  };
  EXPECT_EXIT(wait_for_ever(), testing::ExitedWithCode(kExitFailed), "interrupted after 0");
}

TEST(Crew, EndsWhileAPipeHasNothingToRead) {
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe(ends.data()), 0);
  const UniqueFd read_end(ends[0]);
  const UniqueFd write_end(ends[1]);
  StreamImage source(read_end.get(), "a pipe that nobody writes more to");
  MemoryImage destination(kSize);
  destination.fails = [](const initiator::Request&) { return EIO; };
  const std::array<std::byte, kBlock> block{};
  ASSERT_EQ(::write(write_end.get(), block.data(), block.size()), static_cast<ssize_t>(kBlock));
  CopyPlan plan({CopyPlan::kUnknown, kBlock, kBlock, {}});
  Lane lane({{&source}, {&destination}}, 4, kBlock);
  CopyWorker worker(lane, plan, {});
  worker.run();
  ASSERT_TRUE(worker.failure());
  EXPECT_EQ(worker.failure()->error, EIO);
}

}  // namespace
}  // namespace rdmablk::copy
