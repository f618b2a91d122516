#include "tests/scale/fleet.h"

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace rdmablk::scale {
namespace {

using Clock = std::chrono::steady_clock;

/// Calls for each number below `count`, on several threads. Throws what the first that failed has
/// thrown.
void for_each_number(std::size_t count, unsigned threads,
                     const std::function<void(std::size_t)>& call) {
  std::atomic<std::size_t> next = 0;
  std::exception_ptr failure;
  std::mutex failing;
  {
    std::vector<std::jthread> workers;
    for (unsigned i = 0; i < threads; ++i) {
      workers.emplace_back([&] {
        try {
          for (std::size_t number = next++; number < count; number = next++) call(number);
        } catch (...) {
          next = count;
          const std::scoped_lock lock(failing);
          if (!failure) failure = std::current_exception();
        }
      });
    }
  }
  if (failure) std::rethrow_exception(failure);
}

}  // namespace

Fleet::Fleet(std::size_t sessions, const std::function<MemberOptions(std::size_t)>& options,
             unsigned threads)
    : members_(sessions) {
  const auto start = Clock::now();
  for_each_number(sessions, threads, [&](std::size_t number) {
    members_[number] = std::make_unique<Member>(options(number));
  });
  opening_time_ = Clock::now() - start;
}

std::vector<Duration> Fleet::close() {
  std::vector<Duration> times;
  for (auto& member : members_) {
    const auto start = Clock::now();
    member.reset();
    times.push_back(Clock::now() - start);
  }
  members_.clear();
  return times;
}

}  // namespace rdmablk::scale
