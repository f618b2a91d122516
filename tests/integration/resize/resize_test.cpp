// Images whose exports get another size while their queues work.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <fstream>
#include <random>
#include <thread>

#include "commanded_target.h"
#include "initiator/remote_image.h"
#include "initiator/session.h"
#include "tests/integration/initiator/queue_driver.h"
#include "tests/unit/target/scratch_directory.h"

namespace rdmablk::testing {
namespace {

using initiator::Operation;
using initiator::Request;
using ::testing::HasSubstr;

constexpr std::uint64_t kChunk = 64 << 10;
constexpr std::uint64_t kSmall = 4 * kChunk + 4096;  // the last chunk is a short one
constexpr std::uint64_t kLarge = 10 * kChunk + 8192;
constexpr std::size_t kBlock = 4096;

/// Somebody who writes blocks of the first part of an image and reads what it has written, on a
/// thread of its own, until it is told to stop.
class Busy {
 public:
  explicit Busy(initiator::Image& image)
      : driver_(image, 8, 1, kBlock), thread_([this] { work(); }) {}
  ~Busy() { stop(); }
  Busy(const Busy&) = delete;
  Busy& operator=(const Busy&) = delete;

  /// @return how many requests failed, or read what was not written.
  int stop() {
    stopping_ = true;
    if (thread_.joinable()) thread_.join();
    return failures_;
  }

 private:
  void work() {
    while (!stopping_) {
      const std::size_t block = random_() % stamps_.size();
      const std::uint64_t offset = block * kBlock;
      const bool writes = random_() % 2 == 0;
      Request& request =
          driver_.submit(writes ? Operation::write : Operation::read, offset, kBlock);
      if (writes) {
        stamps_[block] = static_cast<std::byte>(random_());
        std::ranges::fill(driver_.buffer(request), stamps_[block]);
      }
      const bool ok = driver_.wait().error == 0 &&
                      std::ranges::all_of(driver_.buffer(request),
                                          [&](std::byte b) { return b == stamps_[block]; });
      if (!ok) ++failures_;
    }
  }

  QueueDriver driver_;
  std::mt19937 random_{4};
  // All blocks but the last, which is for others.
  std::vector<std::byte> stamps_ = std::vector<std::byte>(kSmall / kBlock - 1);
  std::atomic<bool> stopping_ = false;
  std::atomic<int> failures_ = 0;
  std::thread thread_;
};

initiator::SessionOptions options_of(protocol::Features features) {
  initiator::SessionOptions options;
  options.features = features;
  return options;
}

std::string name_of(const ::testing::TestParamInfo<const char*>& kind) {
  return kind.param;
}

/// A session on an export "disk", and a queue that the test itself drives.
class Attached {
 public:
  explicit Attached(CommandedTarget& target, protocol::Features features = protocol::kKnownFeatures)
      : target_(target),
        session_(initiator::Session::connect(target.process().host_port(), options_of(features))) {
    initiator::AttachOptions options;
    options.queues = 2;
    image_ = session_->attach("disk", options);
    image_->on_resized([this](std::uint64_t size) { told_ = size; });
    probe_.emplace(*image_, 4, 2, kBlock);
  }
  ~Attached() { session_->stop(); }

  void start() { session_->start(); }
  initiator::RemoteImage& image() { return *image_; }
  initiator::Session& session() { return *session_; }

  /// Resizes the export, while the queue is polled. @return the target's answer.
  std::string resize(std::uint64_t size) {
    target_.begin_resize("disk", size);
    std::atomic<bool> answered = false;
    std::string answer;
    std::thread waiting([&] {
      answer = target_.answer("disk");
      answered = true;
    });
    while (!answered) run(Operation::read, 0);
    waiting.join();
    return answer;
  }

  /// Polls until the image has a size, and the listener was told.
  void await_size(std::uint64_t size) {
    while (image_->size() != size || told_ != size) run(Operation::read, 0);
  }

  /// Polls until the session has come back once.
  void await_return() {
    while (session_->state().reconnects == 0) run(Operation::read, 0);
  }

  int run(Operation operation, std::uint64_t offset) {
    return probe_->run(operation, offset, kBlock);
  }
  int write(std::uint64_t offset, std::byte value) {
    std::ranges::fill(probe_->buffer(probe_->submit(Operation::write, offset, kBlock)), value);
    return probe_->wait().error;
  }
  bool reads(std::uint64_t offset, std::byte value) {
    if (run(Operation::read, offset) != 0) return false;
    return std::ranges::all_of(probe_->last_buffer(), [&](std::byte b) { return b == value; });
  }

 private:
  CommandedTarget& target_;
  std::unique_ptr<initiator::Session> session_;
  std::unique_ptr<initiator::RemoteImage> image_;
  std::optional<QueueDriver> probe_;
  std::atomic<std::uint64_t> told_ = 0;
};

/// The kinds of exports, each of kSmall bytes.
class ResizeTest : public ::testing::TestWithParam<const char*> {
 protected:
  void TearDown() override { target_.process().show_log_if_failed(); }

  static std::string spec(const std::string& path) {
    const std::string kind = GetParam();
    if (kind == "memory") return "disk=memory:" + std::to_string(kSmall) + ",chunk=64K";
    if (kind == "resident") return "disk=file:" + path + ",resident,chunk=64K";
    return "disk=file:" + path + ",direct=" + (kind == "direct" ? "auto" : "off");
  }

  bool has_file() const { return std::string(GetParam()) != "memory"; }

  target::ScratchDirectory scratch_;
  std::string path_ = scratch_.make("disk", kSmall);
  CommandedTarget target_{{"--export", spec(path_)}};
};

INSTANTIATE_TEST_SUITE_P(Kinds, ResizeTest,
                         ::testing::Values("memory", "direct", "buffered", "resident"), name_of);

TEST_P(ResizeTest, GrowsAndShrinksUnderLoad) {
  Attached attached(target_);
  Busy busy(attached.image());
  attached.start();
  for (int round = 0; round < 5; ++round) {
    ASSERT_EQ(attached.resize(kLarge), "done");
    attached.await_size(kLarge);
    if (has_file()) {
      EXPECT_EQ(std::filesystem::file_size(path_), kLarge);
    }
    for (std::uint64_t offset = kSmall; offset < kLarge; offset += kBlock) {
      ASSERT_TRUE(attached.reads(offset, std::byte{})) << "at " << offset << " in round " << round;
      ASSERT_EQ(attached.write(offset, std::byte{0x5a}), 0);
    }
    ASSERT_TRUE(attached.reads(kLarge - kBlock, std::byte{0x5a}));
    ASSERT_EQ(attached.resize(kSmall), "done");
    attached.await_size(kSmall);
    if (has_file()) {
      EXPECT_EQ(std::filesystem::file_size(path_), kSmall);
    }
    EXPECT_EQ(attached.run(Operation::read, kSmall), EIO);
    EXPECT_EQ(attached.run(Operation::read, kSmall - 512), EIO) << "across the end";
    EXPECT_EQ(attached.write(kLarge - kBlock, std::byte{1}), ENOSPC);
    EXPECT_EQ(attached.run(Operation::zero, kSmall), ENOSPC);
    EXPECT_EQ(attached.run(Operation::flush, 0), 0);
  }
  EXPECT_EQ(busy.stop(), 0);
}

/// What was written before is there after both.
TEST_P(ResizeTest, KeepsWhatIsNotCutOff) {
  Attached attached(target_);
  attached.start();
  ASSERT_EQ(attached.write(kSmall - kBlock, std::byte{7}), 0);
  ASSERT_EQ(attached.resize(kLarge), "done");
  attached.await_size(kLarge);
  EXPECT_TRUE(attached.reads(kSmall - kBlock, std::byte{7}));
  ASSERT_EQ(attached.write(kSmall, std::byte{8}), 0);
  ASSERT_EQ(attached.resize(kSmall + kBlock), "done");
  EXPECT_TRUE(attached.reads(kSmall - kBlock, std::byte{7}));
  EXPECT_TRUE(attached.reads(kSmall, std::byte{8}));
  if (!has_file()) return;
  ASSERT_EQ(attached.run(Operation::flush, 0), 0);
  std::ifstream file(path_, std::ios::binary);
  file.seekg(kSmall - 1);
  EXPECT_EQ(file.get(), 7);
  EXPECT_EQ(file.get(), 8);
}

/// An initiator of the protocol's first version goes on with what it knows.
TEST_P(ResizeTest, LeavesThoseAloneWhoCannotBeTold) {
  {
    Attached attached(target_, protocol::Features());
    Busy busy(attached.image());
    attached.start();
    ASSERT_EQ(attached.resize(kLarge), "done");
    ASSERT_EQ(attached.write(kSmall - kBlock, std::byte{3}), 0);
    EXPECT_EQ(attached.image().size(), kSmall);
    EXPECT_EQ(attached.run(Operation::read, kSmall), EIO) << "it knows of no more";
    ASSERT_EQ(attached.resize(kSmall), "done") << "which is all that it knows of";
    EXPECT_THAT(attached.resize(kChunk), HasSubstr("cannot be told"));
    EXPECT_TRUE(attached.reads(kSmall - kBlock, std::byte{3}));
    EXPECT_EQ(busy.stop(), 0);
  }
  EXPECT_EQ(target_.resize("disk", kChunk), "done");
}

TEST_P(ResizeTest, RefusesWhatIsNoSize) {
  EXPECT_THAT(target_.resize("disk", 1000), HasSubstr("multiple of 512"));
  EXPECT_THAT(target_.resize("disk", 0), HasSubstr("multiple of 512"));
  EXPECT_THAT(target_.resize("none", 4096), HasSubstr("there is no export 'none'"));
  EXPECT_EQ(target_.resize("disk", kSmall), "done") << "it has that already";
  if (std::string(GetParam()) != "memory") return;
  EXPECT_THAT(target_.resize("disk", std::uint64_t{1} << 45), HasSubstr("chunks"));
  EXPECT_EQ(target_.resize("disk", kLarge), "done") << "after a failure";
}

/// The next target finds the file that it knows, and its initiator goes on.
TEST_P(ResizeTest, IsKnownAfterARestart) {
  if (!has_file()) GTEST_SKIP() << "its memory ends with the target";
  ASSERT_EQ(target_.resize("disk", kLarge), "done");
  target_.process().terminate();
  EXPECT_EQ(target_.process().wait(), 0);
  EXPECT_EQ(std::filesystem::file_size(path_), kLarge);
}

/// Whoever does not go over in time loses its session, and learns the size when it is back.
class SlowInitiatorTest : public ResizeTest {
 protected:
  static void SetUpTestSuite() { ::setenv("RDMABLK_TEST_RESIZE_WAIT_MS", "200", 1); }
  static void TearDownTestSuite() { ::unsetenv("RDMABLK_TEST_RESIZE_WAIT_MS"); }
};

INSTANTIATE_TEST_SUITE_P(Kinds, SlowInitiatorTest,
                         ::testing::Values("memory", "direct", "resident"), name_of);

TEST_P(SlowInitiatorTest, IsEndedAndComesBackToTheSmallerSize) {
  ASSERT_EQ(target_.resize("disk", kLarge), "done");
  Attached attached(target_);
  attached.start();
  ASSERT_EQ(attached.image().size(), kLarge);
  ASSERT_EQ(attached.write(0, std::byte{5}), 0);
  // Nobody polls its queue meanwhile.
  ASSERT_EQ(target_.resize("disk", kSmall), "done");
  attached.await_size(kSmall);
  EXPECT_TRUE(attached.reads(0, std::byte{5}));
  EXPECT_EQ(attached.run(Operation::read, kLarge - kBlock), EIO);
  EXPECT_EQ(attached.write(kLarge - kBlock, std::byte{1}), ENOSPC);
  attached.await_return();
}

}  // namespace
}  // namespace rdmablk::testing
