#include "common/metrics/loop_inquiry.h"

#include <gmock/gmock.h>

#include <asio/executor_work_guard.hpp>
#include <future>
#include <thread>

namespace rdmablk::metrics {
namespace {

constexpr std::chrono::milliseconds kSoon{10};

TEST(LoopInquiry, IsAnsweredOnTheLoopsThread) {
  asio::io_context io{1};
  std::thread::id answered_on;
  LoopInquiry<int> inquiry(io, [&] {
    answered_on = std::this_thread::get_id();
    return 7;
  });
  auto answer = std::async(std::launch::async, [&] { return *inquiry.ask(); });
  const auto work = asio::make_work_guard(io);
  io.run_one();
  EXPECT_EQ(answer.get(), 7);
  EXPECT_EQ(answered_on, std::this_thread::get_id());
}

TEST(LoopInquiry, PassesAFailureOn) {
  asio::io_context io{1};
  LoopInquiry<int> inquiry(io, []() -> int { throw Error("no luck"); });
  auto answer = std::async(std::launch::async, [&] { return *inquiry.ask(); });
  const auto work = asio::make_work_guard(io);
  io.run_one();
  EXPECT_THROW(answer.get(), Error);
}

TEST(LoopInquiry, EndsWithTheLoopsOwner) {
  asio::io_context io{1};
  LoopInquiry<int> inquiry(io, [] { return 7; });
  inquiry.close();
  EXPECT_THROW(inquiry.ask(), Error);
}

TEST(LoopInquiry, DoesNotWaitForEver) {
  asio::io_context io{1};
  LoopInquiry<int> inquiry(
      io, [] { return 7; }, kSoon);
  EXPECT_THROW(inquiry.ask(), Error);
  // The question was put, and is not answered to nobody's harm.
  io.run_one();
}

TEST(LoopInquiry, LeavesNothingThatIsAskedLater) {
  asio::io_context io{1};
  bool asked = false;
  {
    LoopInquiry<int> inquiry(
        io,
        [&] {
          asked = true;
          return 7;
        },
        kSoon);
    EXPECT_THROW(inquiry.ask(), Error);
  }
  io.run_one();
  EXPECT_FALSE(asked);
}

}  // namespace
}  // namespace rdmablk::metrics
