// Writers whose ranges meet inside blocks: what one writes must not be lost under the
// read-modify-write of another.

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <cstring>
#include <random>
#include <thread>

#include "tests/integration/initiator/kept_image.h"

namespace rdmablk::testing {
namespace {

using initiator::Operation;
using initiator::Request;

constexpr std::uint64_t kBlock = 4096;  // a multiple of any file system's
constexpr std::uint64_t kBlocks = 24;
constexpr int kRounds = 60;

/// A piece of a block that one job writes.
struct Piece {
  std::uint64_t begin;
  std::uint64_t end;
};

/// What three jobs write to each block, at odd places next to one another and at its edges. The
/// fourth writes or zeroes the whole block; then every byte outside the pieces is its, and every
/// other is its or that of the piece.
constexpr std::array<Piece, 3> kPieces{{{0, 10}, {10, 1033}, {4001, 4096}}};
constexpr unsigned kJobs = kPieces.size() + 1;

std::byte mark(int round, unsigned job) {
  return static_cast<std::byte>(1 + (static_cast<unsigned>(round) * kJobs + job) % 251);
}

/// One thread that has a queue of its own, and works through all blocks in each round.
class Job {
 public:
  Job(initiator::Image& image, unsigned number)
      : number_(number), driver_(image, 8, 8, kBlock), random_(number) {}

  /// @return how many requests failed.
  int run(int round) {
    std::vector<std::uint64_t> blocks(kBlocks);
    for (std::uint64_t i = 0; i < kBlocks; ++i) blocks[i] = i;
    std::shuffle(blocks.begin(), blocks.end(), random_);
    int failures = 0;
    for (const std::uint64_t block : blocks) {
      if (driver_.under_way() == 8) failures += driver_.wait().error != 0;
      submit(round, block);
      driver_.kick();
    }
    while (driver_.under_way() > 0) failures += driver_.wait().error != 0;
    return failures;
  }

 private:
  void submit(int round, std::uint64_t block) {
    const bool whole = number_ == kPieces.size();
    const Piece piece = whole ? Piece{0, kBlock} : kPieces[number_];
    const bool zeroes = whole && round % 2 == 1;
    Request& request = driver_.submit(zeroes ? Operation::zero : Operation::write,
                                      block * kBlock + piece.begin, piece.end - piece.begin);
    const auto bytes = driver_.buffer(request);
    std::fill(bytes.begin(), bytes.end(), mark(round, number_));
  }

  unsigned number_;
  QueueDriver driver_;
  std::mt19937 random_;
};

/// Checks a block after a round. @return the first byte that is nobody's; kBlock when there is
/// none.
std::uint64_t check(std::span<const std::byte> block, int round) {
  const std::byte whole = round % 2 == 1 ? std::byte{0} : mark(round, kPieces.size());
  for (std::uint64_t i = 0; i < kBlock; ++i) {
    if (block[i] == whole) continue;
    const bool known = [&] {
      for (unsigned job = 0; job < kPieces.size(); ++job) {
        const bool within = i >= kPieces[job].begin && i < kPieces[job].end;
        if (within && block[i] == mark(round, job)) return true;
      }
      return false;
    }();
    if (!known) return i;
  }
  return kBlock;
}

/// @param options of the export. Four jobs write neighbouring bytes of the same blocks.
void write_next_to_one_another(const std::string& options, const char* io_threads) {
  KeptImage kept(kBlock * kBlocks, options, {"--io-threads", io_threads});
  const auto image = kept.attach(kJobs + 1);
  std::vector<std::unique_ptr<Job>> jobs;
  for (unsigned i = 0; i < kJobs; ++i) jobs.push_back(std::make_unique<Job>(*image, i));
  QueueDriver reader(*image, 1, 1, kBlock * kBlocks);
  kept.session().start();
  std::array<int, kJobs> failures{};
  for (int round = 0; round < kRounds; ++round) {
    std::barrier start(kJobs);
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < kJobs; ++i) {
      threads.emplace_back([&, i] {
        start.arrive_and_wait();
        failures[i] += jobs[i]->run(round);
      });
    }
    threads.clear();
    ASSERT_EQ(failures, (std::array<int, kJobs>{}));
    ASSERT_EQ(reader.run(Operation::read, 0, kBlock * kBlocks), 0);
    for (std::uint64_t block = 0; block < kBlocks; ++block) {
      const auto bytes = reader.last_buffer().subspan(block * kBlock, kBlock);
      ASSERT_EQ(check(bytes, round), kBlock) << "round " << round << ", block " << block;
    }
  }
  kept.session().stop();
}

TEST(NeighboursTest, LoseNothingPastThePageCache) {
  write_next_to_one_another("", "2");
}

TEST(NeighboursTest, LoseNothingOnOneThread) {
  write_next_to_one_another("", "1");
}

TEST(NeighboursTest, LoseNothingThroughThePageCache) {
  write_next_to_one_another(",direct=off", "2");
}

}  // namespace
}  // namespace rdmablk::testing
