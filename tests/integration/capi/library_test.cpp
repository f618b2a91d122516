// The library as programs use it, while all goes well, and what it says to programs that are wrong.
#include <gmock/gmock.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <span>
#include <thread>

#include "library_user.h"
#include "tests/unit/target/scratch_directory.h"

namespace rdmablk::testing {
namespace {

using ::testing::HasSubstr;

constexpr std::size_t kPage = 4096;
constexpr std::size_t kMiB = std::size_t{1} << 20U;

class LibraryTest : public ::testing::Test {
 protected:
  TargetProcess target_{{"--export", "disk=memory:8M", "--export", "other=memory:1M", "--export",
                         "rom=memory:1M,readonly"}};
};

bool are_zero(std::span<const std::byte> bytes) {
  return std::ranges::all_of(bytes, [](std::byte byte) { return byte == std::byte{}; });
}

TEST_F(LibraryTest, IsOfTheVersionThatItsHeaderSays) {
  EXPECT_EQ(rdmablk_version(), RDMABLK_VERSION_NUMBER);
  const std::string text = std::to_string(RDMABLK_VERSION_MAJOR) + "." +
                           std::to_string(RDMABLK_VERSION_MINOR) + "." +
                           std::to_string(RDMABLK_VERSION_PATCH);
  EXPECT_EQ(text, RDMABLK_VERSION);
}

TEST_F(LibraryTest, ReadsAndWritesAnyMemory) {
  const auto image = connect(target_, "disk");
  rdmablk_queue* const queue = queue_of(image);
  const auto written = pattern(3 * kMiB + 777, 1);
  constexpr std::uint64_t kOffset = 12345;
  ASSERT_EQ(rdmablk_pwrite(queue, written.data(), written.size(), kOffset, 0), 0);
  std::vector<std::byte> read(written.size() + 2);
  ASSERT_EQ(rdmablk_pread(queue, read.data(), read.size(), kOffset - 1), 0);
  EXPECT_EQ(std::memcmp(read.data() + 1, written.data(), written.size()), 0);
  EXPECT_EQ(read.front(), std::byte{});
  EXPECT_EQ(read.back(), std::byte{});

  ASSERT_EQ(rdmablk_pzero(queue, kPage, kOffset + 100, 0), 0);
  ASSERT_EQ(rdmablk_pdiscard(queue, kPage, kOffset + kMiB, RDMABLK_DURABLE), 0);
  ASSERT_EQ(rdmablk_sync(queue), 0);
  ASSERT_EQ(rdmablk_pread(queue, read.data(), written.size(), kOffset), 0);
  const std::span<const std::byte> now(read);
  EXPECT_TRUE(are_zero(now.subspan(100, kPage)));
  EXPECT_TRUE(are_zero(now.subspan(kMiB, kPage)));
  EXPECT_EQ(now[99], written[99]);
  EXPECT_EQ(now[100 + kPage], written[100 + kPage]);

  EXPECT_EQ(rdmablk_pread(queue, nullptr, 0, 8 * kMiB), 0);
  EXPECT_EQ(rdmablk_pwrite(queue, nullptr, 0, 0, 0), 0);
}

TEST_F(LibraryTest, TellsWhatAnImageIs) {
  const auto options = make_options();
  ASSERT_EQ(rdmablk_options_set_queues(options.get(), 2), 0);
  ASSERT_EQ(rdmablk_options_set_depth(options.get(), 7), 0);
  const auto image = connect(target_, "disk", options);
  struct Longer {
    rdmablk_info info;
    std::uint64_t later;
  } longer{};
  longer.later = 1;
  ASSERT_EQ(rdmablk_get_info(image.get(), &longer.info, sizeof longer), 0);
  EXPECT_EQ(longer.info.uri, uri_of(target_, "disk"));
  EXPECT_STREQ(longer.info.name, "disk");
  EXPECT_STRNE(longer.info.device, "");
  EXPECT_EQ(longer.info.size, 8 * kMiB);
  EXPECT_EQ(longer.info.queues, 2U);
  EXPECT_EQ(longer.info.depth, 7U);
  EXPECT_EQ(longer.info.read_only, 0U);
  EXPECT_EQ(longer.info.flush_is_free, 1U);
  EXPECT_EQ(longer.later, 0U);
  EXPECT_EQ(rdmablk_get_size(image.get()), 8 * kMiB);
  EXPECT_EQ(status_of(image).state, RDMABLK_CONNECTED);

  // Of a program that was compiled with an older header.
  rdmablk_info shorter;
  std::memset(&shorter, 0x55, sizeof shorter);
  ASSERT_EQ(rdmablk_get_info(image.get(), &shorter, offsetof(rdmablk_info, size)), 0);
  EXPECT_STREQ(shorter.name, "disk");
  EXPECT_EQ(shorter.size, 0x5555555555555555U);
}

/// Keeps requests under way that check what they read, and takes completions whenever the queue's
/// descriptor tells of any, a few at a time.
class Polled {
 public:
  Polled(const OwnedImage& image, rdmablk_queue* queue, unsigned count, int fd)
      : queue_(queue), fd_(fd), memory_(memory_of(image, count * kPage)), jobs_(count) {
    for (unsigned i = 0; i < count; ++i) jobs_[i].data = data_of(memory_) + i * kPage;
  }

  void run(unsigned rounds, unsigned at_a_time) {
    left_ = rounds * static_cast<unsigned>(jobs_.size());
    for (Job& job : jobs_) start(job);
    std::vector<rdmablk_completion> completions(at_a_time);
    while (rdmablk_pending(queue_) > 0) {
      ASSERT_TRUE(is_readable(fd_, kPatience)) << left_ << " to go";
      const int count = rdmablk_reap(queue_, completions.data(), at_a_time);
      ASSERT_GE(count, 0) << rdmablk_error();
      for (int i = 0; i < count; ++i) finish(completions[static_cast<std::size_t>(i)]);
    }
    EXPECT_EQ(left_, 0U);
    EXPECT_TRUE(becomes_quiet());
  }

 private:
  /// Whether the descriptor tells of nothing once there is nothing; what the device has announced
  /// may come a little later.
  bool becomes_quiet() {
    rdmablk_completion completion{};
    for (int i = 0; i < 1000; ++i) {
      EXPECT_EQ(rdmablk_reap(queue_, &completion, 1), 0);
      if (!is_readable(fd_, 0)) return true;
    }
    return false;
  }

  enum class Step { write, read, flush };
  struct Job {
    std::byte* data = nullptr;
    Step step = Step::flush;
    std::byte value{};
    std::int64_t request = 0;
  };

  std::uint64_t offset(const Job& job) const {
    return static_cast<std::uint64_t>(&job - jobs_.data()) * kPage;
  }

  void start(Job& job) {
    if (left_ == 0) return;
    --left_;
    switch (job.step) {
      case Step::flush:
        job.step = Step::write;
        job.value = static_cast<std::byte>(left_);
        std::fill_n(job.data, kPage, job.value);
        job.request = rdmablk_write(queue_, memory_, job.data, kPage, offset(job), 0, &job);
        break;
      case Step::write:
        job.step = Step::read;
        std::fill_n(job.data, kPage, ~job.value);
        job.request = rdmablk_read(queue_, memory_, job.data, kPage, offset(job), 0, &job);
        break;
      case Step::read:
        job.step = Step::flush;
        job.request = rdmablk_flush(queue_, 0, &job);
        break;
    }
    ASSERT_GT(job.request, 0) << rdmablk_error();
  }

  void finish(const rdmablk_completion& completion) {
    Job& job = *static_cast<Job*>(completion.user);
    EXPECT_EQ(completion.error, 0);
    EXPECT_EQ(completion.request, job.request);
    EXPECT_EQ(completion.reserved, 0U);
    if (job.step == Step::read) {
      EXPECT_TRUE(
          std::all_of(job.data, job.data + kPage, [&](std::byte b) { return b == job.value; }));
    }
    start(job);
  }

  rdmablk_queue* queue_;
  int fd_;
  rdmablk_memory* memory_;
  std::vector<Job> jobs_;
  unsigned left_ = 0;
};

class PolledTest : public LibraryTest, public ::testing::WithParamInterface<unsigned> {};

TEST_P(PolledTest, MissesNoCompletionHoweverManyAreTaken) {
  const auto options = make_options();
  ASSERT_EQ(rdmablk_options_set_depth(options.get(), 16), 0);
  const auto image = connect(target_, "disk", options);
  rdmablk_queue* const queue = queue_of(image);
  Polled(image, queue, 16, rdmablk_queue_fd(queue)).run(30, GetParam());
}

INSTANTIATE_TEST_SUITE_P(AtATime, PolledTest, ::testing::Values(1U, 3U, 16U, 64U));

TEST_F(LibraryTest, ItsDescriptorMayBeInAnEpollSetOfAnother) {
  const auto image = connect(target_, "disk");
  rdmablk_queue* const queue = queue_of(image);
  const UniqueFd inner(::epoll_create1(EPOLL_CLOEXEC));
  const UniqueFd outer(::epoll_create1(EPOLL_CLOEXEC));
  epoll_event event{};
  event.events = EPOLLIN;
  ASSERT_EQ(::epoll_ctl(inner.get(), EPOLL_CTL_ADD, rdmablk_queue_fd(queue), &event), 0);
  ASSERT_EQ(::epoll_ctl(outer.get(), EPOLL_CTL_ADD, inner.get(), &event), 0);
  Polled(image, queue, 4, outer.get()).run(20, 2);
}

TEST_F(LibraryTest, ItsDescriptorTellsOfWhatEndsAtOnce) {
  const auto image = connect(target_, "disk");
  rdmablk_queue* const queue = queue_of(image);
  const int fd = rdmablk_queue_fd(queue);
  std::array<rdmablk_completion, 4> completions{};
  EXPECT_EQ(rdmablk_reap(queue, completions.data(), 4), 0);
  for (int i = 0; i < 3; ++i) ASSERT_GT(rdmablk_flush(queue, 0, nullptr), 0);
  // It stays so until all are taken, and not longer.
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(is_readable(fd, kPatience));
    ASSERT_EQ(rdmablk_reap(queue, completions.data(), 1), 1);
  }
  EXPECT_EQ(rdmablk_reap(queue, completions.data(), 1), 0);
  EXPECT_FALSE(is_readable(fd, 0));
}

TEST_F(LibraryTest, CallsThatWaitLeaveTheCompletionsOfRequestsAlone) {
  const auto image = connect(target_, "disk");
  rdmablk_queue* const queue = queue_of(image);
  const int fd = rdmablk_queue_fd(queue);
  rdmablk_memory* const memory = memory_of(image, kPage);
  const std::int64_t request =
      rdmablk_read(queue, memory, data_of(memory), kPage, 0, RDMABLK_MORE, &target_);
  ASSERT_GT(request, 0);
  auto bytes = pattern(kMiB, 3);
  ASSERT_EQ(rdmablk_pwrite(queue, bytes.data(), bytes.size(), 0, 0), 0);
  EXPECT_EQ(rdmablk_pending(queue), 1U);
  ASSERT_TRUE(is_readable(fd, kPatience));
  const auto completion = wait_for_one(queue);
  EXPECT_EQ(completion.request, request);
  EXPECT_EQ(completion.user, &target_);
  EXPECT_EQ(completion.error, 0);
}

TEST_F(LibraryTest, HandsOverAtLastWhatWasToWaitForMore) {
  const auto image = connect(target_, "disk");
  rdmablk_queue* const queue = queue_of(image);
  rdmablk_memory* const memory = memory_of(image, kPage);
  for (int i = 0; i < 3; ++i) {
    ASSERT_GT(rdmablk_write(queue, memory, data_of(memory), kPage, 0, RDMABLK_MORE, nullptr), 0);
  }
  for (int i = 0; i < 3; ++i) EXPECT_EQ(wait_for_one(queue).error, 0);
  EXPECT_EQ(rdmablk_pending(queue), 0U);
}

TEST_F(LibraryTest, WorksOnMemoryOfTheProgram) {
  const auto image = connect(target_, "disk");
  rdmablk_queue* const queue = queue_of(image);
  auto bytes = pattern(2 * kMiB, 5);
  rdmablk_memory* memory = nullptr;
  ASSERT_EQ(rdmablk_memory_register(image.get(), bytes.data() + 1, bytes.size() - 2, &memory), 0);
  EXPECT_EQ(data_of(memory), bytes.data() + 1);
  EXPECT_EQ(rdmablk_memory_size(memory), bytes.size() - 2);
  ASSERT_GT(rdmablk_write(queue, memory, bytes.data() + 1, bytes.size() - 2, 7, 0, nullptr), 0);
  EXPECT_EQ(rdmablk_memory_free(memory), -EBUSY);
  EXPECT_EQ(wait_for_one(queue).error, 0);
  EXPECT_EQ(rdmablk_memory_free(memory), 0);
  std::vector<std::byte> read(bytes.size() - 2);
  ASSERT_EQ(rdmablk_pread(queue, read.data(), read.size(), 7), 0);
  EXPECT_EQ(std::memcmp(read.data(), bytes.data() + 1, read.size()), 0);
}

TEST_F(LibraryTest, ServesAThreadByEachQueue) {
  constexpr unsigned kThreads = 2;
  const auto options = make_options();
  ASSERT_EQ(rdmablk_options_set_queues(options.get(), kThreads), 0);
  const auto image = connect(target_, "disk", options);
  EXPECT_EQ(rdmablk_get_queue(image.get(), kThreads), nullptr);
  std::array<int, kThreads> wrong{};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      rdmablk_queue* const queue = queue_of(image, i);
      std::vector<std::byte> read(kPage);
      for (unsigned round = 0; round < 100; ++round) {
        const auto written = pattern(kPage, round * kThreads + i);
        const std::uint64_t offset = i * kMiB + round * kPage;
        const bool is_right = rdmablk_pwrite(queue, written.data(), kPage, offset, 0) == 0 &&
                              rdmablk_pread(queue, read.data(), kPage, offset) == 0 &&
                              read == written;
        if (!is_right) ++wrong[i];
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, (std::array<int, kThreads>{}));
}

TEST_F(LibraryTest, RefusesOptionsThatMakeNoSense) {
  const auto made = make_options();
  rdmablk_options* const options = made.get();
  EXPECT_EQ(rdmablk_options_set_key_file(options, ""), -EINVAL);
  EXPECT_EQ(rdmablk_options_set_client(options, "not a name"), -EINVAL);
  EXPECT_THAT(rdmablk_error(), HasSubstr("client's name"));
  EXPECT_EQ(rdmablk_options_set_queues(options, 0), -EINVAL);
  EXPECT_EQ(rdmablk_options_set_queues(options, RDMABLK_MAX_QUEUES + 1), -EINVAL);
  EXPECT_EQ(rdmablk_options_set_depth(options, 0), -EINVAL);
  EXPECT_EQ(rdmablk_options_set_depth(options, RDMABLK_MAX_DEPTH + 1), -EINVAL);
  EXPECT_EQ(rdmablk_options_set_connect_timeout_ms(options, 0), -EINVAL);
  EXPECT_EQ(rdmablk_options_set_connect_timeout_ms(options, RDMABLK_NEVER), -EINVAL);
  EXPECT_EQ(rdmablk_options_set_reconnect_delay_ms(options, 0), -EINVAL);
  EXPECT_EQ(rdmablk_options_set_reconnect_delay_ms(options, RDMABLK_MAX_MS + 1), -EINVAL);
  EXPECT_EQ(rdmablk_options_set_fail_fast_ms(options, -2), -EINVAL);
  EXPECT_EQ(rdmablk_options_set_give_up_ms(options, RDMABLK_MAX_MS + 1), -EINVAL);
  EXPECT_EQ(rdmablk_options_set_log(options, nullptr, nullptr, 0), -EINVAL);
  EXPECT_EQ(rdmablk_options_set_log(options, nullptr, nullptr, RDMABLK_LOG_DEBUG + 1), -EINVAL);
  EXPECT_EQ(rdmablk_options_set_depth(nullptr, 1), -EINVAL);
  EXPECT_EQ(rdmablk_options_set_fail_fast_ms(options, 0), 0);
  EXPECT_EQ(rdmablk_options_set_give_up_ms(options, RDMABLK_NEVER), 0);
  EXPECT_EQ(rdmablk_options_set_connect_timeout_ms(options, RDMABLK_MAX_MS), 0);
  EXPECT_EQ(rdmablk_options_set_queues(options, RDMABLK_MAX_QUEUES), 0);
  EXPECT_EQ(rdmablk_options_set_connection(options, "gid-index", "1"), -EINVAL);
  EXPECT_THAT(rdmablk_error(), HasSubstr("no option of this name"));
  EXPECT_EQ(rdmablk_options_set_connection(options, nullptr, "1"), -EINVAL);
  EXPECT_EQ(rdmablk_options_set_connection(options, "gid_index", nullptr), -EINVAL);
  EXPECT_EQ(rdmablk_options_set_connection(options, "gid_index", "256"), -EINVAL);
  EXPECT_THAT(rdmablk_error(), HasSubstr("gid_index takes a number from 0 to 255"));
  EXPECT_EQ(rdmablk_options_set_connection(options, "ack_timeout", "14"), 0);
  // A name is nothing without the key that proves it.
  EXPECT_EQ(rdmablk_options_set_client(options, "alice"), 0);
  EXPECT_EQ(connect_error(uri_of(target_, "disk"), made), -EINVAL);
}

TEST_F(LibraryTest, RefusesCallsThatMakeNoSense) {
  const auto image = connect(target_, "disk");
  const auto other = connect(target_, "other");
  rdmablk_queue* const queue = queue_of(image);
  rdmablk_memory* const memory = memory_of(image, kPage);
  rdmablk_memory* const foreign = memory_of(other, kPage);
  std::byte* const data = data_of(memory);
  const std::uint64_t end = 8 * kMiB;
  rdmablk_completion completion{};

  EXPECT_EQ(rdmablk_read(nullptr, memory, data, 1, 0, 0, nullptr), -EINVAL);
  EXPECT_EQ(rdmablk_read(queue, nullptr, data, 1, 0, 0, nullptr), -EINVAL);
  EXPECT_EQ(rdmablk_read(queue, foreign, data_of(foreign), 1, 0, 0, nullptr), -EINVAL);
  EXPECT_THAT(rdmablk_error(), HasSubstr("another image"));
  EXPECT_EQ(rdmablk_read(queue, memory, data - 1, 1, 0, 0, nullptr), -EINVAL);
  EXPECT_EQ(rdmablk_read(queue, memory, data + 1, kPage, 0, 0, nullptr), -EINVAL);
  EXPECT_EQ(rdmablk_read(queue, memory, data + kPage, 1, 0, 0, nullptr), -EINVAL);
  EXPECT_EQ(rdmablk_write(queue, memory, data, SIZE_MAX, 0, 0, nullptr), -ENOSPC);
  EXPECT_EQ(rdmablk_read(queue, memory, data, 0, 0, 0, nullptr), -EINVAL);
  EXPECT_EQ(rdmablk_read(queue, memory, data, 1, 0, RDMABLK_DURABLE, nullptr), -EINVAL);
  EXPECT_EQ(rdmablk_write(queue, memory, data, 1, 0, 0x100, nullptr), -EINVAL);
  EXPECT_EQ(rdmablk_flush(queue, RDMABLK_DURABLE, nullptr), -EINVAL);
  EXPECT_EQ(rdmablk_read(queue, memory, data, 1, end, 0, nullptr), -EINVAL);
  EXPECT_EQ(rdmablk_read(queue, memory, data, 2, UINT64_MAX, 0, nullptr), -EINVAL);
  EXPECT_EQ(rdmablk_write(queue, memory, data, 2, end - 1, 0, nullptr), -ENOSPC);
  EXPECT_EQ(rdmablk_zero(queue, UINT64_MAX, 1, 0, nullptr), -ENOSPC);
  EXPECT_EQ(rdmablk_discard(queue, 1, end, 0, nullptr), -ENOSPC);
  EXPECT_EQ(rdmablk_pending(queue), 0U);

  EXPECT_EQ(rdmablk_pread(queue, data, 2, end - 1), -EINVAL);
  EXPECT_EQ(rdmablk_pread(queue, nullptr, 1, 0), -EINVAL);
  EXPECT_EQ(rdmablk_pwrite(queue, data, 1, 0, RDMABLK_MORE), -EINVAL);
  EXPECT_EQ(rdmablk_pwrite(queue, data, 1, end, 0), -ENOSPC);
  EXPECT_EQ(rdmablk_sync(nullptr), -EINVAL);

  EXPECT_EQ(rdmablk_reap(queue, nullptr, 1), -EINVAL);
  EXPECT_EQ(rdmablk_reap(queue, &completion, 0), -EINVAL);
  EXPECT_EQ(rdmablk_wait(queue, &completion, 1, RDMABLK_NEVER), -ENOENT);
  EXPECT_EQ(rdmablk_wait(queue, &completion, 1, -2), -EINVAL);
  EXPECT_EQ(rdmablk_cancel(queue, 0), -ENOENT);
  EXPECT_EQ(rdmablk_cancel(queue, -EAGAIN), -ENOENT);
  EXPECT_EQ(rdmablk_cancel(queue, INT64_MAX), -ENOENT);
  const std::int64_t request = rdmablk_read(queue, memory, data, 1, 0, 0, nullptr);
  ASSERT_EQ(wait_for_one(queue).request, request);
  EXPECT_EQ(rdmablk_cancel(queue, request), -ENOENT);
  EXPECT_EQ(rdmablk_queue_set_timeout_ms(queue, 0), -EINVAL);
  EXPECT_EQ(rdmablk_queue_fd(nullptr), -EINVAL);
  EXPECT_EQ(rdmablk_pending(nullptr), 0U);

  rdmablk_memory* none = memory;
  EXPECT_EQ(rdmablk_memory_alloc(image.get(), 0, &none), -EINVAL);
  EXPECT_EQ(none, nullptr);
  EXPECT_EQ(rdmablk_memory_alloc(image.get(), SIZE_MAX, &none), -ENOMEM);
  EXPECT_EQ(rdmablk_memory_register(image.get(), nullptr, 1, &none), -EINVAL);
  EXPECT_EQ(rdmablk_memory_free(nullptr), 0);
  EXPECT_EQ(rdmablk_memory_data(nullptr), nullptr);
  EXPECT_EQ(rdmablk_memory_size(nullptr), 0U);
  EXPECT_EQ(rdmablk_get_size(nullptr), 0U);
  rdmablk_info info{};
  EXPECT_EQ(rdmablk_get_info(nullptr, &info, sizeof info), -EINVAL);
  EXPECT_EQ(rdmablk_get_info(image.get(), nullptr, sizeof info), -EINVAL);
  EXPECT_EQ(rdmablk_get_info(image.get(), &info, 0), -EINVAL);
  rdmablk_close(nullptr);
  rdmablk_options_free(nullptr);
}

TEST_F(LibraryTest, ChangesNothingThatIsReadOnly) {
  const auto options = make_options();
  ASSERT_EQ(rdmablk_options_set_read_only(options.get(), 1), 0);
  for (const char* name : {"disk", "rom"}) {
    const auto image = connect(target_, name, options);
    rdmablk_queue* const queue = queue_of(image);
    rdmablk_memory* const memory = memory_of(image, kPage);
    std::byte* const data = data_of(memory);
    EXPECT_EQ(rdmablk_pread(queue, data, kPage, 0), 0);
    EXPECT_EQ(rdmablk_pwrite(queue, data, kPage, 0, 0), -EROFS);
    EXPECT_EQ(rdmablk_write(queue, memory, data, kPage, 0, 0, nullptr), -EROFS);
    EXPECT_EQ(rdmablk_zero(queue, 1, 0, 0, nullptr), -EROFS);
    EXPECT_EQ(rdmablk_pdiscard(queue, 1, 0, 0), -EROFS);
    EXPECT_EQ(rdmablk_sync(queue), 0);
  }
}

TEST_F(LibraryTest, SaysWhyItCannotConnect) {
  const std::string host = "rdmablk://" + target_.host_port().text();
  EXPECT_EQ(connect_error("/dev/sda"), -EINVAL);
  EXPECT_THAT(rdmablk_error(), HasSubstr("is not a URI"));
  EXPECT_EQ(rdmablk_connect(nullptr, nullptr, nullptr), -EINVAL);
  EXPECT_EQ(connect_error(host + "/nosuch"), -ENOENT);
  EXPECT_THAT(rdmablk_error(), HasSubstr("nosuch"));
  EXPECT_EQ(connect_error(host + "/rom"), -EROFS);
  EXPECT_EQ(connect_error("rdmablk://no-such-host.invalid/disk"), -EHOSTUNREACH);
  const auto held = connect(target_, "disk");
  EXPECT_EQ(connect_error(host + "/disk"), -EBUSY);
  const auto options = make_options();
  ASSERT_EQ(rdmablk_options_set_key_file(options.get(), "/no/such/key"), 0);
  EXPECT_EQ(connect_error(host + "/disk", options), -EACCES);
  target_.terminate();
  target_.wait();
  EXPECT_EQ(connect_error(host + "/disk"), -ECONNREFUSED);
}

TEST_F(LibraryTest, ConnectsAsItIsTold) {
  const std::string uri = uri_of(target_, "disk");
  const auto options = make_options();
  ASSERT_EQ(rdmablk_options_set_connection(options.get(), "retries", "3"), 0);
  ASSERT_EQ(rdmablk_options_set_connection(options.get(), "device", "nosuch0"), 0);
  EXPECT_NE(connect_error(uri, options), 0);
  EXPECT_THAT(rdmablk_error(), HasSubstr("nosuch0"));
  ASSERT_EQ(rdmablk_options_set_connection(options.get(), "service_level", "1"), 0);
  ASSERT_EQ(rdmablk_options_set_connection(options.get(), "cm", "rdmacm"), 0);
  EXPECT_EQ(connect_error(uri, options), -EINVAL);
  EXPECT_THAT(rdmablk_error(), HasSubstr("service_level"));
}

TEST_F(LibraryTest, TakesOverFromAnother) {
  const auto first = connect(target_, "disk");
  const auto options = make_options();
  ASSERT_EQ(rdmablk_options_set_take_over(options.get(), 1), 0);
  const auto second = connect(target_, "disk", options);
  auto bytes = pattern(kPage, 8);
  EXPECT_EQ(rdmablk_pwrite(queue_of(second), bytes.data(), kPage, 0, 0), 0);
  EXPECT_EQ(rdmablk_pwrite(queue_of(first), bytes.data(), kPage, 0, 0), -EIO);
  EXPECT_EQ(status_of(first).state, RDMABLK_LOST);
}

TEST_F(LibraryTest, KeepsTheTextOfTheLastFailureOfEachThread) {
  EXPECT_EQ(rdmablk_sync(nullptr), -EINVAL);
  const std::string text = rdmablk_error();
  EXPECT_THAT(text, HasSubstr("NULL"));
  std::thread([] { EXPECT_STREQ(rdmablk_error(), ""); }).join();
  EXPECT_EQ(rdmablk_error(), text);
}

TEST(LibraryKeyTest, ConnectsWithTheKeyThatTheTargetKnows) {
  const target::ScratchDirectory scratch;
  const std::string key = "1111111111111111111111111111111111111111111111111111111111111111";
  const auto write = [&](const std::string& name, const std::string& line) {
    const std::string path = scratch.path(name);
    const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    EXPECT_EQ(::write(fd.get(), line.data(), line.size()), static_cast<ssize_t>(line.size()));
    return path;
  };
  const std::string known = write("known", "alice rdmablk-key-1:" + key + "\n");
  const std::string wrong = write("wrong", "alice rdmablk-key-1:2" + key.substr(1) + "\n");
  const TargetProcess target({"--auth", known, "--export", "disk=memory:1M"});
  const auto options = make_options();
  EXPECT_EQ(connect_error(uri_of(target, "disk"), options), -EACCES);
  ASSERT_EQ(rdmablk_options_set_key_file(options.get(), wrong.c_str()), 0);
  EXPECT_EQ(connect_error(uri_of(target, "disk"), options), -EACCES);
  ASSERT_EQ(rdmablk_options_set_key_file(options.get(), known.c_str()), 0);
  ASSERT_EQ(rdmablk_options_set_client(options.get(), "alice"), 0);
  const auto image = connect(target, "disk", options);
  EXPECT_EQ(rdmablk_sync(queue_of(image)), 0);
}

}  // namespace
}  // namespace rdmablk::testing
