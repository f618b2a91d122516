// The library while the target does not answer, is away, comes back, or has another size.
#include <gmock/gmock.h>
#include <spdlog/sinks/ostream_sink.h>
#include <spdlog/spdlog.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <sstream>
#include <thread>

#include "library_user.h"
#include "tests/integration/resize/commanded_target.h"
#include "tests/unit/target/scratch_directory.h"

namespace rdmablk::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMiB = std::size_t{1} << 20U;

/// Long for a test, and short for who waits for a request.
constexpr std::int64_t kMoment = 100;

/// Collects the lines of the log.
class Log {
 public:
  void listen(const OwnedOptions& options, int level) {
    const auto take = [](void* user, int line_level, const char* line) {
      auto* const self = static_cast<Log*>(user);
      const std::lock_guard lock(self->mutex_);
      self->text_ += std::to_string(line_level) + ": " + line + "\n";
    };
    EXPECT_EQ(rdmablk_options_set_log(options.get(), take, this, level), 0);
  }

  std::string text() const {
    const std::lock_guard lock(mutex_);
    return text_;
  }

 private:
  mutable std::mutex mutex_;
  std::string text_;
};

/// A target whose processor takes part in all I/O, so that it can be kept from answering.
class LossTest : public ::testing::Test {
 protected:
  static constexpr std::uint64_t kSize = 4 * kMiB;

  LossTest() {
    EXPECT_EQ(rdmablk_options_set_depth(options_.get(), 4), 0);
    EXPECT_EQ(rdmablk_options_set_reconnect_delay_ms(options_.get(), 50), 0);
    changes_.listen(options_);
  }

  std::vector<std::string> arguments() const { return {"--export", "disk=file:" + path_}; }

  void attach() {
    image_ = connect(*target_, "disk", options_);
    queue_ = queue_of(image_);
    memory_ = memory_of(image_, 4 * kPage);
  }

  /// Begins to read.
  std::int64_t read() {
    const auto request = rdmablk_read(queue_, memory_, data_of(memory_), kPage, 0, 0, nullptr);
    EXPECT_GT(request, 0) << rdmablk_error();
    return request;
  }

  void wait_for_state(std::int32_t state) {
    EXPECT_TRUE(changes_.wait_until([&] { return status_of(image_).state == state; }));
  }

  /// The target's end, and that it was noticed.
  void lose_target() {
    target_->kill();
    wait_for_state(RDMABLK_RECONNECTING);
  }

  /// Another one at the same place.
  void start_again() {
    const std::uint16_t port = target_->address().port();
    target_.emplace(arguments(), port);
  }

  target::ScratchDirectory scratch_;
  std::string path_ = scratch_.make("disk", kSize);
  std::optional<TargetProcess> target_{std::in_place, arguments()};
  OwnedOptions options_ = make_options();
  Changes changes_;
  Log log_;
  OwnedImage image_;
  rdmablk_queue* queue_ = nullptr;
  rdmablk_memory* memory_ = nullptr;
};

TEST_F(LossTest, TakesNoMoreRequestsThanTheQueueIsDeep) {
  attach();
  for (int i = 0; i < 4; ++i) read();
  EXPECT_EQ(rdmablk_read(queue_, memory_, data_of(memory_), 1, 0, 0, nullptr), -EAGAIN);
  EXPECT_EQ(rdmablk_pending(queue_), 4U);
  EXPECT_EQ(wait_for_one(queue_).error, 0);
  read();
  for (int i = 0; i < 4; ++i) EXPECT_EQ(wait_for_one(queue_).error, 0);
}

TEST_F(LossTest, CannotTakeBackWhatTheDeviceWorksOn) {
  attach();
  freeze(*target_);
  const std::int64_t request = read();
  rdmablk_completion completion{};
  EXPECT_EQ(rdmablk_wait(queue_, &completion, 1, kMoment), 0);
  EXPECT_EQ(rdmablk_cancel(queue_, request), -EBUSY);
  EXPECT_EQ(rdmablk_memory_free(memory_), -EBUSY);
  target_->send(SIGCONT);
  completion = wait_for_one(queue_);
  EXPECT_EQ(completion.request, request);
  EXPECT_EQ(completion.error, 0);
  EXPECT_EQ(rdmablk_memory_free(memory_), 0);
}

TEST_F(LossTest, LetsGoOfWhatTheDeviceWorkedOnOnceTheConnectionIsLost) {
  attach();
  freeze(*target_);
  const std::int64_t cancelled = read();
  ASSERT_EQ(rdmablk_queue_set_timeout_ms(queue_, kMoment), 0);
  const std::int64_t late = read();
  rdmablk_completion completion{};
  EXPECT_EQ(rdmablk_wait(queue_, &completion, 1, 2 * kMoment), 0);
  EXPECT_EQ(rdmablk_cancel(queue_, cancelled), -EBUSY);
  target_->kill();
  for (int i = 0; i < 2; ++i) {
    completion = wait_for_one(queue_);
    EXPECT_EQ(completion.error, completion.request == late ? -ETIMEDOUT : -ECANCELED);
  }
  EXPECT_EQ(rdmablk_pending(queue_), 0U);
}

TEST_F(LossTest, ACallThatWaitsEndsWhenItsTimeIsUp) {
  attach();
  auto bytes = pattern(3 * kMiB, 1);
  ASSERT_EQ(rdmablk_pwrite(queue_, bytes.data(), bytes.size(), 0, 0), 0);
  ASSERT_EQ(rdmablk_queue_set_timeout_ms(queue_, kMoment), 0);
  freeze(*target_);
  std::vector<std::byte> read(bytes.size());
  EXPECT_EQ(rdmablk_pread(queue_, read.data(), read.size(), 0), -ETIMEDOUT);
  // Nothing of what the device works on is the program's.
  const std::vector<std::byte> nothing(bytes.size());
  EXPECT_EQ(rdmablk_pread(queue_, read.data(), read.size(), 0), -ETIMEDOUT);
  EXPECT_EQ(rdmablk_sync(queue_), -ETIMEDOUT);
  target_->send(SIGCONT);
  ASSERT_EQ(rdmablk_queue_set_timeout_ms(queue_, RDMABLK_NEVER), 0);
  ASSERT_EQ(rdmablk_pread(queue_, read.data(), read.size(), 0), 0);
  EXPECT_EQ(read, bytes);
}

TEST_F(LossTest, TakesBackWhatWaitsForATargetThatIsAway) {
  attach();
  lose_target();
  const std::int64_t request = read();
  rdmablk_completion completion{};
  EXPECT_EQ(rdmablk_wait(queue_, &completion, 1, kMoment), 0);
  EXPECT_EQ(rdmablk_cancel(queue_, request), 0);
  completion = wait_for_one(queue_);
  EXPECT_EQ(completion.request, request);
  EXPECT_EQ(completion.error, -ECANCELED);
  EXPECT_EQ(rdmablk_memory_free(memory_), 0);
}

TEST_F(LossTest, EndsInTimeWhatWaitsForATargetThatIsAway) {
  attach();
  lose_target();
  ASSERT_EQ(rdmablk_queue_set_timeout_ms(queue_, kMoment), 0);
  read();
  EXPECT_EQ(wait_for_one(queue_).error, -ETIMEDOUT);
  std::array<std::byte, 1> byte{};
  EXPECT_EQ(rdmablk_pread(queue_, byte.data(), 1, 0), -ETIMEDOUT);
  // The descriptor tells of it, too, also of several that are late at different times.
  const int fd = rdmablk_queue_fd(queue_);
  read();
  ASSERT_EQ(rdmablk_queue_set_timeout_ms(queue_, 2 * kMoment), 0);
  read();
  rdmablk_completion completion{};
  for (int late = 0; late < 2;) {
    ASSERT_TRUE(is_readable(fd, kPatience));
    const int count = rdmablk_reap(queue_, &completion, 1);
    ASSERT_GE(count, 0);
    late += count;
    if (count > 0) {
      EXPECT_EQ(completion.error, -ETIMEDOUT);
    }
  }
}

TEST_F(LossTest, DoesAgainWhatWasUnderWayWhenTheTargetIsBack) {
  auto words = arguments();
  words.insert(words.end(), {"--keepalive", "1"});
  target_.emplace(words);
  log_.listen(options_, RDMABLK_LOG_INFO);
  attach();
  const auto bytes = pattern(kPage, 4);
  ASSERT_EQ(rdmablk_pwrite(queue_, bytes.data(), kPage, 0, RDMABLK_DURABLE), 0);
  // Whoever polls the descriptor, as deep in epoll sets as it may be, is told of what another
  // connection does.
  const UniqueFd inner(::epoll_create1(EPOLL_CLOEXEC));
  const UniqueFd outer(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLIN;
  ASSERT_EQ(::epoll_ctl(inner.get(), EPOLL_CTL_ADD, rdmablk_queue_fd(queue_), &event), 0);
  ASSERT_EQ(::epoll_ctl(outer.get(), EPOLL_CTL_ADD, inner.get(), &event), 0);
  // It says nothing for so long that it counts as lost.
  freeze(*target_);
  read();
  wait_for_state(RDMABLK_RECONNECTING);
  EXPECT_STRNE(status_of(image_).reason, "");
  target_->send(SIGCONT);
  rdmablk_completion completion{};
  int count = 0;
  while (count == 0) {
    ASSERT_TRUE(is_readable(outer.get(), kPatience));
    count = rdmablk_reap(queue_, &completion, 1);
  }
  EXPECT_EQ(count, 1);
  EXPECT_EQ(completion.error, 0);
  EXPECT_TRUE(std::equal(bytes.begin(), bytes.end(), data_of(memory_)));
  wait_for_state(RDMABLK_CONNECTED);
  EXPECT_GE(status_of(image_).reconnects, 1U);
  EXPECT_THAT(log_.text(), HasSubstr("2: lost the connection to "));
  EXPECT_THAT(log_.text(), HasSubstr("3: back at "));
}

TEST_F(LossTest, FailsFastAndGivesUpAsItIsTold) {
  ASSERT_EQ(rdmablk_options_set_fail_fast_ms(options_.get(), 0), 0);
  ASSERT_EQ(rdmablk_options_set_give_up_ms(options_.get(), RDMABLK_NEVER), 0);
  attach();
  target_->kill();
  wait_for_state(RDMABLK_FAILING);
  const int fd = rdmablk_queue_fd(queue_);
  read();
  ASSERT_TRUE(is_readable(fd, kPatience));
  EXPECT_EQ(wait_for_one(queue_).error, -EIO);
  std::array<std::byte, 1> byte{};
  EXPECT_EQ(rdmablk_pread(queue_, byte.data(), 1, 0), -EIO);
  image_.reset();

  start_again();
  ASSERT_EQ(rdmablk_options_set_give_up_ms(options_.get(), 0), 0);
  attach();
  target_->kill();
  wait_for_state(RDMABLK_LOST);
  read();
  EXPECT_EQ(wait_for_one(queue_).error, -EIO);
}

TEST_F(LossTest, ClosesWithRequestsUnderWay) {
  std::vector<std::byte> own(kPage, std::byte{7});
  attach();
  rdmablk_memory* memory = nullptr;
  ASSERT_EQ(rdmablk_memory_register(image_.get(), own.data(), own.size(), &memory), 0);
  freeze(*target_);
  ASSERT_GT(rdmablk_read(queue_, memory, own.data(), kPage, 0, 0, nullptr), 0);
  read();
  image_.reset();
  target_->send(SIGCONT);
  // Whatever it sends, nothing takes it any more.
  const auto again = connect(*target_, "disk", options_);
  EXPECT_EQ(rdmablk_sync(queue_of(again)), 0);
  EXPECT_EQ(own, std::vector<std::byte>(kPage, std::byte{7}));
}

TEST_F(LossTest, ClosesWhileTheTargetIsAway) {
  attach();
  lose_target();
  read();
  image_.reset();
}

TEST_F(LossTest, RefusesTheCallsOfASecondThread) {
  attach();
  freeze(*target_);
  read();
  std::thread first([this] {
    rdmablk_completion done{};
    int result = 0;
    // It may be refused as well, until it comes in between two calls of the other thread.
    while ((result = rdmablk_wait(queue_, &done, 1, kPatience)) == -EINVAL) {
      std::this_thread::yield();
    }
    EXPECT_EQ(result, 1) << rdmablk_error();
    EXPECT_EQ(done.error, 0);
  });
  rdmablk_completion completion{};
  // As soon as the first one is in its call.
  int result = 0;
  while ((result = rdmablk_reap(queue_, &completion, 1)) == 0) std::this_thread::yield();
  EXPECT_EQ(result, -EINVAL);
  EXPECT_THAT(rdmablk_error(), HasSubstr("another thread"));
  target_->send(SIGCONT);
  first.join();
}

TEST_F(LossTest, AHandledSignalEndsAWaitForCompletionsAndNothingElse) {
  struct sigaction handler {};
  handler.sa_handler = [](int /*signal*/) {};
  struct sigaction before {};
  ASSERT_EQ(::sigaction(SIGUSR1, &handler, &before), 0);
  attach();
  freeze(*target_);
  read();
  std::atomic<bool> enough = false;
  std::thread caller([&, waiting = ::pthread_self()] {
    while (!enough) {
      ::pthread_kill(waiting, SIGUSR1);
      std::this_thread::yield();
    }
  });
  rdmablk_completion completion{};
  EXPECT_EQ(rdmablk_wait(queue_, &completion, 1, RDMABLK_NEVER), -EINTR);
  EXPECT_THAT(rdmablk_error(), testing::HasSubstr("signal"));
  EXPECT_EQ(rdmablk_queue_set_timeout_ms(queue_, kMoment), 0);
  std::array<std::byte, 1> byte{};
  EXPECT_EQ(rdmablk_pread(queue_, byte.data(), 1, 0), -ETIMEDOUT);
  enough = true;
  caller.join();
  target_->send(SIGCONT);
  EXPECT_EQ(wait_for_one(queue_).error, 0);
  ::sigaction(SIGUSR1, &before, nullptr);
}

TEST_F(LossTest, LeavesTheProgramsOwnLogAlone) {
  std::ostringstream own;
  auto logger = std::make_shared<spdlog::logger>(
      "own", std::make_shared<spdlog::sinks::ostream_sink_mt>(own));
  logger->set_level(spdlog::level::trace);
  const auto before = spdlog::default_logger();
  spdlog::set_default_logger(logger);
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  attach();
  lose_target();
  EXPECT_EQ(connect_error("rdmablk://" + target_->host_port().text() + "/disk"), -ECONNREFUSED);
  image_.reset();
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(spdlog::default_logger(), logger);
  EXPECT_EQ(own.str(), "");
  spdlog::set_default_logger(before);
}

TEST(LibraryResizeTest, TakesUpAnotherSizeAlsoOnQueuesThatNobodyUses) {
  constexpr std::uint64_t kSmall = kMiB;
  constexpr std::uint64_t kLarge = 3 * kMiB + kPage;
  CommandedTarget target({"--export", "disk=memory:1M,chunk=64K"});
  const auto options = make_options();
  ASSERT_EQ(rdmablk_options_set_queues(options.get(), 2), 0);
  Changes changes;
  changes.listen(options);
  const auto image = connect(target.process(), "disk", options);
  rdmablk_queue* const queue = queue_of(image, 1);
  auto bytes = pattern(kPage, 2);
  EXPECT_EQ(rdmablk_pwrite(queue, bytes.data(), kPage, kSmall, 0), -ENOSPC);

  EXPECT_EQ(target.resize("disk", kLarge), "done");
  EXPECT_TRUE(changes.wait_until([&] { return rdmablk_get_size(image.get()) == kLarge; }));
  EXPECT_EQ(rdmablk_pwrite(queue, bytes.data(), kPage, kLarge - kPage, 0), 0);
  std::vector<std::byte> read(kPage);
  EXPECT_EQ(rdmablk_pread(queue_of(image, 0), read.data(), kPage, kLarge - kPage), 0);
  EXPECT_EQ(read, bytes);

  EXPECT_EQ(target.resize("disk", kSmall), "done");
  EXPECT_TRUE(changes.wait_until([&] { return rdmablk_get_size(image.get()) == kSmall; }));
  EXPECT_EQ(rdmablk_pread(queue, read.data(), kPage, kSmall), -EINVAL);
  EXPECT_EQ(rdmablk_pwrite(queue, bytes.data(), kPage, kSmall - 1, 0), -ENOSPC);
}

}  // namespace
}  // namespace rdmablk::testing
