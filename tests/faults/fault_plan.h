#pragma once

#include <chrono>
#include <cstdint>
#include <limits>
#include <map>
#include <mutex>
#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace rdmablk::testing {

enum class Operation { kRead, kWrite, kSync };

/// What is to happen to one request.
struct Verdict {
  std::chrono::milliseconds delay{};
  int error = 0;  ///< a positive errno value: the request fails and does nothing
  std::uint64_t at_most = std::numeric_limits<std::uint64_t>::max();  ///< bytes it may write
};

/// The faults that are asked for at the moment. Any thread may use it.
class FaultPlan {
 public:
  /// Takes one line:
  ///   fail read|write EIO|ENOSPC OFFSET LENGTH   requests that touch the range fail
  ///   fail fsync EIO|ENOSPC [COUNT]              the next COUNT (1) flushes fail
  ///   short write BYTES [COUNT]                  the next COUNT (1) longer ones do BYTES, without
  ///                                              O_DIRECT
  ///   delay read|write|fsync MILLISECONDS        each takes so much longer
  ///   jitter read|write|fsync MILLISECONDS       each takes longer by up to so much, at random
  ///   clear                                      nothing of all that any more
  /// Numbers may have K, M or G behind them. Throws UsageError for anything else.
  void apply(std::string_view line);

  /// Decides on a request; counts it where a number of requests was asked for.
  Verdict judge(Operation operation, std::uint64_t offset, std::uint64_t length);

 private:
  struct BadRange {
    Operation operation;
    int error;
    std::uint64_t offset;
    std::uint64_t length;
  };
  struct Countdown {
    std::uint64_t left = 0;
    std::uint64_t value = 0;  // an errno value, or bytes
  };

  void fail(const std::vector<std::string>& words);
  void clear();

  std::mutex mutex_;
  std::vector<BadRange> ranges_;
  std::map<Operation, Countdown> failing_;
  Countdown short_writes_;
  std::map<Operation, std::chrono::milliseconds> delays_;
  std::map<Operation, std::chrono::milliseconds> jitters_;
  std::minstd_rand random_;
};

}  // namespace rdmablk::testing
