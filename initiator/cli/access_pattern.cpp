#include "initiator/cli/access_pattern.h"

namespace rdmablk::cli {
namespace {

constexpr unsigned kAll = 100;

unsigned read_percent(const BenchOptions& options) {
  if (options.workload == Workload::randrw) return options.read_percent;
  return has_reads(options.workload) ? kAll : 0;
}

}  // namespace

AccessPattern::AccessPattern(const BenchOptions& options, const BenchRange& range, unsigned queue)
    : start_(range.offset),
      block_size_(options.block_size),
      blocks_(range.size / options.block_size),
      step_(options.queues),
      position_(queue % blocks_),
      is_random_(is_random(options.workload)),
      read_percent_(read_percent(options)),
      random_(queue) {}

void AccessPattern::aim(initiator::Request& request) noexcept {
  request.operation = next_operation();
  request.offset = start_ + next_block() * block_size_;
  request.length = block_size_;
}

std::uint64_t AccessPattern::next_block() noexcept {
  if (is_random_) return random_below(blocks_);
  const std::uint64_t block = position_;
  position_ = (position_ + step_) % blocks_;
  return block;
}

initiator::Operation AccessPattern::next_operation() noexcept {
  if (read_percent_ == kAll) return initiator::Operation::read;
  if (read_percent_ == 0) return initiator::Operation::write;
  return random_below(kAll) < read_percent_ ? initiator::Operation::read
                                            : initiator::Operation::write;
}

/// Scales a random number instead of dividing it; the bias is below bound / 2^64.
std::uint64_t AccessPattern::random_below(std::uint64_t bound) noexcept {
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((Wide{random_()} * bound) >> 64U);
}

}  // namespace rdmablk::cli
