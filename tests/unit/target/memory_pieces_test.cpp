#include "target/memory_pieces.h"

#include <gtest/gtest.h>

#include <atomic>
#include <latch>
#include <mutex>
#include <set>
#include <stdexcept>
#include <thread>
#include <vector>

#include "error_of.h"
#include "tests/unit/numa_tree.h"

namespace rdmablk::target {
namespace {

constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
constexpr std::uint64_t kPiece = 64 * kMiB;

/// Of so much memory that threads are worth it, and of which no byte is touched.
class MemoryPiecesTest : public ::testing::Test {
 protected:
  static std::span<std::byte> memory(std::uint64_t bytes) {
    return {reinterpret_cast<std::byte*>(kPiece), bytes};
  }

  /// Calls for each piece, and notes what was called on which threads.
  void work(std::span<std::byte> bytes, std::optional<int> node = {}) {
    for_each_piece(
        bytes, kPiece, node,
        [&](std::size_t number, std::span<std::byte> piece) {
          const std::scoped_lock lock(mutex_);
          EXPECT_EQ(piece.data(), bytes.data() + number * kPiece);
          covered_ += piece.size();
          numbers_.insert(number);
          threads_.insert(std::this_thread::get_id());
        },
        tree_.path());
  }

  NumaTree tree_;
  std::mutex mutex_;
  std::uint64_t covered_ = 0;
  std::multiset<std::size_t> numbers_;
  std::set<std::thread::id> threads_;
};

TEST_F(MemoryPiecesTest, CallsOnceForEach) {
  constexpr std::size_t kCount = 100;
  const auto bytes = memory((kCount - 1) * kPiece + 512);
  work(bytes);
  EXPECT_EQ(covered_, bytes.size());
  EXPECT_EQ(numbers_.size(), kCount);
  EXPECT_EQ(std::set(numbers_.begin(), numbers_.end()).size(), kCount);
  EXPECT_EQ(*numbers_.rbegin(), kCount - 1);
  EXPECT_LE(threads_.size(), own_cpus().size());
}

TEST_F(MemoryPiecesTest, WorksOnSeveralAtOnce) {
  if (own_cpus().size() < 2) GTEST_SKIP() << "it takes two processors";
  std::latch both(2);
  for_each_piece(memory(2 * kPiece), kPiece, {},
                 [&](std::size_t, std::span<std::byte>) { both.arrive_and_wait(); });
}

TEST_F(MemoryPiecesTest, StartsNoThreadForLittleMemory) {
  for_each_piece(memory(kMiB), 4096, {}, [&](std::size_t, std::span<std::byte>) {
    threads_.insert(std::this_thread::get_id());
  });
  EXPECT_EQ(threads_, std::set{std::this_thread::get_id()});
}

TEST_F(MemoryPiecesTest, StartsNoMoreThreadsThanItMayUseProcessors) {
  std::thread([&] {
    run_on(own_cpus().front());
    work(memory(16 * kPiece));
    EXPECT_EQ(threads_, std::set{std::this_thread::get_id()});
  }).join();
}

TEST_F(MemoryPiecesTest, StartsNoMoreThreadsThanTheNodeHasProcessors) {
  tree_.make_node(0, std::to_string(own_cpus().front()));
  work(memory(16 * kPiece), 0);
  EXPECT_EQ(threads_, std::set{std::this_thread::get_id()});
}

TEST_F(MemoryPiecesTest, ThrowsWhatACallThrows) {
  std::atomic<std::size_t> called = 0;
  const auto error = error_of<std::runtime_error>([&] {
    for_each_piece(memory(1000 * kPiece), kPiece, {},
                   [&](std::size_t number, std::span<std::byte>) {
                     ++called;
                     if (number >= 3) throw std::runtime_error("there are three pieces");
                   });
  });
  EXPECT_EQ(error, "there are three pieces");
  EXPECT_LE(called, 3 + own_cpus().size()) << "each thread fails once, and begins no more";
}

}  // namespace
}  // namespace rdmablk::target
