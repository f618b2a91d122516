#include "target/io_thread.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <functional>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "error_of.h"
#include "target/flush_group.h"

namespace rdmablk::target {
namespace {

/// A task that does what the test says.
class Task final : public IoTask {
 public:
  explicit Task(std::function<void()> what) : what_(std::move(what)) {}
  void run() noexcept override { what_(); }

 private:
  std::function<void()> what_;
};

/// Runs something on the thread and waits for its end.
void run_on(IoThread& thread, const std::function<void()>& what) {
  const auto done = std::make_shared<std::promise<void>>();
  Task task([&what, done] {
    const auto kept = done;  // the task vanishes as soon as the other side knows
    what();
    kept->set_value();
  });
  thread.post(task);
  done->get_future().wait();
}

TEST(IoThreadTest, RunsTasksOnItself) {
  IoThread thread(3, {});
  EXPECT_FALSE(thread.is_current());
  run_on(thread, [&] {
    EXPECT_TRUE(thread.is_current());
    std::array<char, 16> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    EXPECT_EQ(std::string(name.data()), "io-3");
  });
}

TEST(IoThreadTest, LeavesSignalsToOthers) {
  IoThread thread(0, {});
  run_on(thread, [] {
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGCHLD}) {
      EXPECT_EQ(sigismember(&blocked, number), 1);
    }
  });
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGTERM), 0);
}

TEST(IoThreadTest, RunsTasksOfManyThreadsInTheirOrder) {
  constexpr unsigned kThreads = 4;
  constexpr unsigned kTasks = 5000;
  std::array<unsigned, kThreads> done{};
  unsigned disorder = 0;
  std::vector<std::unique_ptr<Task>> tasks;
  for (unsigned number = 0; number < kThreads; ++number) {
    for (unsigned i = 0; i < kTasks; ++i) {
      tasks.push_back(std::make_unique<Task>([&, number, i] {
        if (done[number] != i) ++disorder;
        ++done[number];
      }));
    }
  }
  {
    IoThread thread(0, {});
    std::vector<std::thread> posters;
    for (unsigned number = 0; number < kThreads; ++number) {
      posters.emplace_back([&, number] {
        for (unsigned i = 0; i < kTasks; ++i) thread.post(*tasks[number * kTasks + i]);
      });
    }
    for (std::thread& poster : posters) poster.join();
  }  // runs what was posted
  EXPECT_EQ(disorder, 0U);
  EXPECT_THAT(done, ::testing::Each(kTasks));
}

/// A task that posts itself again.
class Recurring final : public IoTask {
 public:
  Recurring(IoThread& thread, unsigned times) : left(times), thread_(thread) {}
  unsigned left;
  void run() noexcept override {
    ++depth_;
    EXPECT_EQ(depth_, 1U) << "run from within post()";
    if (--left > 0) thread_.post(*this);
    --depth_;
  }

 private:
  IoThread& thread_;
  unsigned depth_ = 0;
};

TEST(IoThreadTest, TakesTasksFromItself) {
  auto thread = std::make_unique<IoThread>(0, std::span<const int>{});
  Recurring one(*thread, 1000);
  Recurring other(*thread, 1000);
  thread->post(one);
  thread->post(other);
  thread.reset();
  EXPECT_EQ(one.left + other.left, 0U);
}

TEST(IoThreadTest, ATaskMayVanishWhenItRuns) {
  IoThread thread(0, {});
  for (int i = 0; i < 100; ++i) {
    auto holder = std::make_shared<std::unique_ptr<Task>>();
    *holder = std::make_unique<Task>([holder] {
      const auto last = std::move(*holder);  // ends with this call
    });
    thread.post(**holder);
  }
  run_on(thread, [] {});
}

/// An operation that begins anew when it has ended, and counts the ends that its thread sees.
class Chain final : public RingOperation {
 public:
  Chain(IoThread& thread, unsigned times) : thread_(thread), left_(times) {
    data = bytes_.data();
    length = bytes_.size();
  }
  unsigned strays() const { return strays_; }
  unsigned left() const { return left_; }

  void on_result(int) noexcept override {
    if (!thread_.is_current()) ++strays_;
    if (--left_ > 0) thread_.ring().submit(*this);
  }

 private:
  IoThread& thread_;
  std::array<std::byte, 4> bytes_{};
  unsigned left_;
  unsigned strays_ = 0;
};

TEST(IoThreadTest, EndsOnceWhatIsInFlightHasEnded) {
  const UniqueFd file(::memfd_create("io_thread_test", MFD_CLOEXEC));
  const std::array files{file.get()};
  auto thread = std::make_unique<IoThread>(0, files);
  Chain chain(*thread, 20000);
  run_on(*thread, [&] { thread->ring().submit(chain); });
  thread.reset();
  EXPECT_EQ(chain.left(), 0U);
  EXPECT_EQ(chain.strays(), 0U) << "ended behind the end of its thread";
}

TEST(IoThreadTest, SaysWhatIsWrongWithFiles) {
  const std::array files{12345};
  EXPECT_THAT(error_of<SystemError>([&] { IoThread thread(0, files); }),
              ::testing::HasSubstr("register files"));
}

/// A flush that counts, and flushes again.
class Flusher final : public FlushGroup::Flush, public IoTask {
 public:
  Flusher(IoThread& thread, FlushGroup& group, Writer& whose)
      : thread_(thread), group_(group), writer_(whose) {}
  std::promise<void> done;
  unsigned errors = 0;

  void run() noexcept override {
    writer_.begin();
    writer_.acknowledge();
    writer_.end();
    group_.flush(*this, &writer_, thread_.ring());
  }
  void on_flushed(int error) noexcept override {
    if (error != 0) ++errors;
    if (--left_ == 0) {
      done.set_value();
    } else {
      thread_.post(*this);  // may be on another thread
    }
  }

 private:
  IoThread& thread_;
  FlushGroup& group_;
  Writer& writer_;
  unsigned left_ = 1000;
};

TEST(IoThreadTest, ThreadsShareFlushes) {
  const UniqueFd file(::memfd_create("io_thread_test", MFD_CLOEXEC));
  const std::array files{file.get()};
  FlushGroup group(0);
  Writer writer;
  group.add(writer);
  std::vector<std::unique_ptr<Flusher>> flushers;
  IoThread one(0, files);
  IoThread other(1, files);
  for (int i = 0; i < 8; ++i) {
    IoThread& thread = i % 2 == 0 ? one : other;
    flushers.push_back(std::make_unique<Flusher>(thread, group, writer));
    thread.post(*flushers.back());
  }
  for (const auto& flusher : flushers) {
    flusher->done.get_future().wait();
    EXPECT_EQ(flusher->errors, 0U);
  }
  EXPECT_FALSE(writer.has_failed());
}

}  // namespace
}  // namespace rdmablk::target
