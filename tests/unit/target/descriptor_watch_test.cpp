#include "common/descriptor_watch.h"

#include <gtest/gtest.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <asio/post.hpp>
#include <optional>

#include "common/unique_fd.h"

namespace rdmablk::target {
namespace {

class DescriptorWatchTest : public ::testing::Test {
 protected:
  void signal() const {
    const std::uint64_t one = 1;
    ASSERT_EQ(::write(event_.get(), &one, sizeof one), static_cast<ssize_t>(sizeof one));
  }
  void take() {
    std::uint64_t value = 0;
    ASSERT_EQ(::read(event_.get(), &value, sizeof value), static_cast<ssize_t>(sizeof value));
    ++taken_;
  }

  UniqueFd event_{::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)};
  asio::io_context io_;
  int taken_ = 0;
};

TEST_F(DescriptorWatchTest, CallsAgainAndAgain) {
  const DescriptorWatch watch(io_, event_.get(), [this] {
    take();
    if (taken_ == 3) return io_.stop();
    signal();
  });
  signal();
  io_.run();
  EXPECT_EQ(taken_, 3);
}

TEST_F(DescriptorWatchTest, CallsAgainForWhatWasLeft) {
  int calls = 0;
  const DescriptorWatch watch(io_, event_.get(), [&] {
    if (++calls == 2) io_.stop();
  });
  signal();
  io_.run();
  EXPECT_EQ(calls, 2);
}

TEST_F(DescriptorWatchTest, IsSilentOnceDestroyed) {
  std::optional<DescriptorWatch> watch(std::in_place, io_, event_.get(), [this] { take(); });
  // Both are due in the same round: the callback is queued already when the watch goes.
  asio::post(io_, [&] { watch.reset(); });
  signal();
  io_.run();
  EXPECT_EQ(taken_, 0);
}

TEST_F(DescriptorWatchTest, LeavesTheDescriptorOpen) {
  {
    const DescriptorWatch watch(io_, event_.get(), [] {});
  }
  signal();
}

TEST(LifetimeTest, GuardsACallback) {
  int calls = 0;
  std::optional<Lifetime> lifetime(std::in_place);
  const auto callback = lifetime->guard([&](int value) { calls += value; });
  callback(2);
  lifetime.reset();
  callback(2);
  EXPECT_EQ(calls, 2);
}

}  // namespace
}  // namespace rdmablk::target
