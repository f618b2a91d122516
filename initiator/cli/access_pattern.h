#pragma once

#include <cstdint>
#include <random>

#include "initiator/cli/bench_options.h"
#include "initiator/request.h"

namespace rdmablk::cli {

/// Decides what each request of one queue does and where. All queues together walk through the
/// range block by block in a sequential workload, each taking every n-th; in a random one each
/// jumps in the whole range. The same options give the same requests again.
class AccessPattern {
 public:
  /// @param queue 0 to options.queues - 1.
  AccessPattern(const BenchOptions& options, const BenchRange& range, unsigned queue);

  /// Sets a request's operation, offset and length.
  void aim(initiator::Request& request) noexcept;

 private:
  std::uint64_t next_block() noexcept;
  initiator::Operation next_operation() noexcept;
  std::uint64_t random_below(std::uint64_t bound) noexcept;

  std::uint64_t start_;
  std::uint64_t block_size_;
  std::uint64_t blocks_;
  std::uint64_t step_;
  std::uint64_t position_;
  bool is_random_;
  unsigned read_percent_;
  std::mt19937_64 random_;
};

}  // namespace rdmablk::cli
