#include "fuse/interrupts.h"

#include <gtest/gtest.h>
#include <poll.h>

#include <array>
#include <thread>

namespace rdmablk::fuse {
namespace {

bool is_told(const Interrupts& interrupts, unsigned worker) {
  pollfd source{interrupts.fd(worker), POLLIN, 0};
  return ::poll(&source, 1, 0) == 1;
}

TEST(Interrupts, ReachEveryWorkerOnce) {
  Interrupts interrupts(2);
  std::array<std::uint64_t, 4> taken{};
  EXPECT_FALSE(is_told(interrupts, 0));
  EXPECT_EQ(interrupts.take(0, taken), 0U);
  interrupts.post(42);
  for (const unsigned worker : {0U, 1U}) {
    EXPECT_TRUE(is_told(interrupts, worker));
    EXPECT_EQ(interrupts.take(worker, taken), 1U);
    EXPECT_EQ(taken[0], 42U);
    EXPECT_FALSE(is_told(interrupts, worker));
    EXPECT_EQ(interrupts.take(worker, taken), 0U);
  }
}

TEST(Interrupts, AreTakenInPieces) {
  Interrupts interrupts(1);
  for (std::uint64_t i = 0; i < 5; ++i) interrupts.post(i);
  std::array<std::uint64_t, 3> taken{};
  EXPECT_EQ(interrupts.take(0, taken), 3U);
  EXPECT_EQ(interrupts.take(0, taken), 2U);
  EXPECT_EQ(interrupts.take(0, taken), 0U);
}

TEST(Interrupts, AreDroppedWhenThereAreFarTooMany) {
  Interrupts interrupts(1);
  for (std::uint64_t i = 0; i < Interrupts::kMost + 10; ++i) interrupts.post(i);
  std::array<std::uint64_t, Interrupts::kMost + 10> taken{};
  EXPECT_EQ(interrupts.take(0, taken), Interrupts::kMost);
}

TEST(Interrupts, AreNotLostBetweenThreads) {
  constexpr std::uint64_t kCount = 1000;
  Interrupts interrupts(1);
  std::jthread poster([&] {
    for (std::uint64_t i = 1; i <= kCount; ++i) interrupts.post(i);
  });
  std::uint64_t sum = 0;
  for (std::uint64_t count = 0; count < kCount;) {
    pollfd source{interrupts.fd(0), POLLIN, 0};
    ASSERT_EQ(::poll(&source, 1, -1), 1);
    std::array<std::uint64_t, 16> taken{};
    while (const std::size_t some = interrupts.take(0, taken)) {
      for (std::size_t i = 0; i < some; ++i) sum += taken[i];
      count += some;
    }
  }
  EXPECT_EQ(sum, kCount * (kCount + 1) / 2);
}

}  // namespace
}  // namespace rdmablk::fuse
