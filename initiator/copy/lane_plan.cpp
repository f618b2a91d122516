#include "initiator/copy/lane_plan.h"

#include <algorithm>

#include "common/protocol/header.h"
#include "common/verbs/memory_region.h"
#include "initiator/copy/lane.h"

namespace rdmablk::copy {
namespace {

/// What a session locks besides: the zeroes it writes, its own messages, the queues themselves.
constexpr std::uint64_t kSessionMemory = std::uint64_t{2} << 20U;

/// Bytes: blocks are not made smaller than this, but where smaller ones were asked for.
constexpr std::uint64_t kLeastBlock = std::uint64_t{64} << 10U;

std::uint64_t memory_of_lane(unsigned blocks, std::uint64_t block_size) {
  const std::uint64_t messages =
      std::uint64_t{2} * protocol::kMaxMessage * queue_depth(blocks, block_size);
  return blocks * block_size + messages;
}

}  // namespace

std::uint64_t locked_memory(const LanePlan& plan, unsigned ends) {
  return ends * (kSessionMemory + plan.lanes * memory_of_lane(plan.blocks, plan.block_size));
}

LanePlan fit_to_memlock(const LanePlan& wanted, unsigned least, unsigned ends,
                        std::uint64_t limit) {
  LanePlan plan = wanted;
  const auto is_too_much = [&] { return locked_memory(plan, ends) > limit; };
  while (is_too_much() && plan.blocks > least) --plan.blocks;
  while (is_too_much() && plan.lanes > 1) --plan.lanes;
  while (is_too_much() && plan.block_size / 2 >= kLeastBlock) plan.block_size /= 2;
  if (is_too_much()) {
    throw verbs::MemlockError("register memory to move data with", locked_memory(plan, ends));
  }
  return plan;
}

}  // namespace rdmablk::copy
