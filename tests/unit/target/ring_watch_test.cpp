#include <gtest/gtest.h>
#include <sys/eventfd.h>

#include <functional>
#include <memory>
#include <vector>

#include "common/unique_fd.h"
#include "target/io_uring.h"

namespace rdmablk::target {
namespace {

/// An eventfd that is drained whenever it is readable.
class Event final : public ReadableHandler {
 public:
  void signal() const { ::eventfd_write(fd_.get(), 1); }
  int fd() const { return fd_.get(); }
  unsigned calls() const { return calls_; }
  std::uint64_t total() const { return total_; }

  std::function<void()> then;

  void on_readable() noexcept override {
    ++calls_;
    eventfd_t count = 0;
    if (::eventfd_read(fd_.get(), &count) == 0) total_ += count;
    if (then) then();
  }

 private:
  UniqueFd fd_{::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)};
  unsigned calls_ = 0;
  std::uint64_t total_ = 0;
};

class RingWatchTest : public ::testing::Test {
 protected:
  IoUring ring_{{}, 0};
  Event event_;
};

TEST_F(RingWatchTest, SaysEachTimeADescriptorBecomesReadable) {
  ring_.watch(event_.fd(), event_);
  ring_.run(false);
  EXPECT_EQ(event_.calls(), 0U);
  for (unsigned i = 1; i <= 1000; ++i) {
    event_.signal();
    ring_.run(true);
    ASSERT_EQ(event_.total(), i);
  }
}

TEST_F(RingWatchTest, SaysThatADescriptorIsReadableAlready) {
  event_.signal();
  ring_.watch(event_.fd(), event_);
  ring_.run(true);
  EXPECT_EQ(event_.total(), 1U);
}

TEST_F(RingWatchTest, WatchesManyDescriptors) {
  std::vector<std::unique_ptr<Event>> events;
  for (int i = 0; i < 1000; ++i) {
    events.push_back(std::make_unique<Event>());
    ring_.watch(events.back()->fd(), *events.back());
  }
  for (int i = 0; i < 1000; i += 3) events[static_cast<std::size_t>(i)]->signal();
  for (int i = 0; i < 10; ++i) ring_.run(false);
  for (std::size_t i = 0; i < 1000; ++i) EXPECT_EQ(events[i]->total(), i % 3 == 0 ? 1U : 0U);
}

TEST_F(RingWatchTest, IsSilentAfterTheEnd) {
  ring_.watch(event_.fd(), event_);
  ring_.run(false);
  event_.signal();  // the kernel has said so before the watch ends
  ring_.unwatch(event_);
  ring_.run(false);
  event_.signal();
  ring_.run(false);
  EXPECT_EQ(event_.calls(), 0U);
}

TEST_F(RingWatchTest, MayEndBeforeItBegan) {
  ring_.watch(event_.fd(), event_);
  event_.signal();
  ring_.unwatch(event_);
  ring_.run(false);
  EXPECT_EQ(event_.calls(), 0U);
}

TEST_F(RingWatchTest, MayEndWithinAnotherHandler) {
  Event other;
  ring_.watch(event_.fd(), event_);
  ring_.watch(other.fd(), other);
  event_.then = [&] { ring_.unwatch(other); };
  other.then = [&] { ring_.unwatch(event_); };
  ring_.run(false);
  event_.signal();
  other.signal();
  for (int i = 0; i < 3; ++i) ring_.run(false);
  EXPECT_EQ(event_.calls() + other.calls(), 1U);
}

TEST_F(RingWatchTest, MayBeginWithinAHandler) {
  std::vector<std::unique_ptr<Event>> others;
  event_.then = [&] {
    for (int i = 0; i < 100; ++i) {
      others.push_back(std::make_unique<Event>());
      others.back()->signal();
      ring_.watch(others.back()->fd(), *others.back());
    }
    ring_.unwatch(event_);
  };
  event_.signal();
  ring_.watch(event_.fd(), event_);
  for (int i = 0; i < 4; ++i) ring_.run(false);
  EXPECT_EQ(event_.calls(), 1U);
  for (const auto& other : others) EXPECT_EQ(other->calls(), 1U);
}

/// The news of a watch that has ended must not reach the one that comes after.
TEST_F(RingWatchTest, TellsWatchesThatFollowOneAnotherApart) {
  for (int i = 0; i < 1000; ++i) {
    Event old;
    ring_.watch(old.fd(), old);
    ring_.run(false);
    old.signal();
    ring_.unwatch(old);
    Event fresh;
    ring_.watch(fresh.fd(), fresh);
    for (int turn = 0; turn < 3; ++turn) ring_.run(false);
    ASSERT_EQ(old.calls(), 0U);
    ASSERT_EQ(fresh.calls(), 0U);
    fresh.signal();
    while (fresh.calls() == 0) ring_.run(true);
    ring_.unwatch(fresh);
  }
}

/// The kernel gives a watch up when its completion queue is full.
TEST_F(RingWatchTest, BeginsAnewWhenTheKernelGivesUp) {
  ring_.watch(event_.fd(), event_);
  ring_.run(false);
  for (int i = 0; i < 10000; ++i) event_.signal();
  for (int i = 0; i < 10; ++i) ring_.run(false);
  EXPECT_EQ(event_.total(), 10000U);
  event_.signal();
  ring_.run(true);
  EXPECT_EQ(event_.total(), 10001U);
}

}  // namespace
}  // namespace rdmablk::target
