// Files that come to the I/O threads, and leave them, while these work.
#include "target/io_threads.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include <array>
#include <cerrno>
#include <future>
#include <set>

#include "common/unique_fd.h"
#include "error_of.h"
#include "target/counts.h"

namespace rdmablk::target {
namespace {

/// A file with one letter in it.
UniqueFd file_with(char letter) {
  UniqueFd fd(::memfd_create("test", MFD_CLOEXEC));
  EXPECT_EQ(::pwrite(fd.get(), &letter, 1, 0), 1);
  return fd;
}

/// Reads the first byte of a file by its number, on a thread.
class Reading final : public IoTask, public RingOperation {
 public:
  Reading(IoThread& thread, unsigned number) : thread_(thread) {
    kind = Kind::read;
    file = number;
    data = &byte_;
    length = 1;
    thread.post(*this);
    result_ = done_.get_future().get();
  }
  void run() noexcept override { thread_.ring().submit(*this); }
  void on_result(int result) noexcept override { done_.set_value(result); }

  /// The letter, or a negative errno value.
  int outcome() const { return result_ == 1 ? std::to_integer<int>(byte_) : result_; }

 private:
  IoThread& thread_;
  std::byte byte_{};
  std::promise<int> done_;
  int result_ = 0;
};

class IoThreadsTest : public ::testing::Test {
 protected:
  int add(unsigned number, const UniqueFd& fd) {
    return await(
        [&](const IoThreads::Known& known) { threads_.add_file(number, fd.get(), known); });
  }
  int remove(unsigned number) {
    return await([&](const IoThreads::Known& known) { threads_.remove_file(number, known); });
  }

  /// What all threads find behind a number, in turn.
  std::set<int> found(unsigned number) {
    std::set<int> all;
    for (int i = 0; i < 2; ++i) all.insert(Reading(threads_.next(), number).outcome());
    return all;
  }

  asio::io_context io_{1};
  IoThreads threads_{io_, 2};

 private:
  int await(const std::function<void(const IoThreads::Known&)>& begin) {
    std::optional<int> outcome;
    begin([&](int error) { outcome = error; });
    const auto work = asio::make_work_guard(io_);
    while (!outcome) {
      io_.restart();
      io_.run_one();
    }
    return *outcome;
  }
};

TEST_F(IoThreadsTest, StartsWithTheFirstFile) {
  const auto before = count_open_fds();
  const auto number = threads_.take_number();
  EXPECT_EQ(count_open_fds(), before);
  const auto fd = file_with('a');
  EXPECT_EQ(add(number, fd), 0);
  EXPECT_THAT(found(number), ::testing::ElementsAre('a'));
}

TEST_F(IoThreadsTest, FilesComeAndGo) {
  const auto a = file_with('a');
  const auto b = file_with('b');
  const auto first = threads_.take_number();
  ASSERT_EQ(add(first, a), 0);
  const auto second = threads_.take_number();
  EXPECT_NE(first, second);
  ASSERT_EQ(add(second, b), 0);
  EXPECT_THAT(found(second), ::testing::ElementsAre('b'));
  EXPECT_EQ(remove(first), 0);
  EXPECT_THAT(found(first), ::testing::ElementsAre(-EBADF));
  EXPECT_THAT(found(second), ::testing::ElementsAre('b'));
  threads_.give_back(first);
  EXPECT_EQ(threads_.take_number(), first);
  ASSERT_EQ(add(first, b), 0);
  EXPECT_THAT(found(first), ::testing::ElementsAre('b'));
}

TEST_F(IoThreadsTest, RingsLetGoOfAFileThatIsRemoved) {
  auto other = file_with('b');
  ASSERT_EQ(add(threads_.take_number(), other), 0);
  std::array<int, 2> pipe{};
  ASSERT_EQ(::pipe2(pipe.data(), O_CLOEXEC), 0);
  const UniqueFd reader(pipe[0]);
  UniqueFd writer(pipe[1]);
  const auto number = threads_.take_number();
  ASSERT_EQ(add(number, writer), 0);
  writer.reset();
  ASSERT_EQ(remove(number), 0);
  char nothing = 0;
  EXPECT_EQ(::read(reader.get(), &nothing, 1), 0) << "its last descriptor is closed";
}

TEST_F(IoThreadsTest, RefusesMoreFilesThanThereArePlaces) {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  FileNumbers numbers(2);
  EXPECT_EQ(numbers.take(), 0U);
  EXPECT_EQ(numbers.take(), 1U);
  EXPECT_FALSE(numbers.take());
  numbers.give_back(0);
  EXPECT_EQ(numbers.take(), 0U);
  EXPECT_LE(most_files(), limit.rlim_cur);
}

}  // namespace
}  // namespace rdmablk::target
