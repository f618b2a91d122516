#include "initiator/copy/copy_plan.h"

#include <algorithm>

namespace rdmablk::copy {
namespace {

/// How far the map is asked ahead: a large file in many fragments has a large map.
constexpr std::uint64_t kWindow = std::uint64_t{1} << 30U;

}  // namespace

std::optional<Piece> CopyPlan::next() {
  const std::lock_guard lock(mutex_);
  if (finished_.load(std::memory_order_relaxed) || position_ >= options_.length) {
    return std::nullopt;
  }
  protocol::Extent& extent = current_extent();
  const std::uint64_t most = extent.is_hole ? options_.hole_size : options_.block_size;
  // Blocks stay aligned to the beginning, wherever a hole ends.
  const std::uint64_t length = std::min(extent.length, most - position_ % most);
  const Piece piece{position_, length, extent.is_hole};
  position_ += length;
  extent.length -= length;
  return piece;
}

protocol::Extent& CopyPlan::current_extent() {
  while (extent_ < extents_.size() && extents_[extent_].length == 0) ++extent_;
  if (extent_ == extents_.size()) {
    extent_ = 0;
    const std::uint64_t rest = options_.length - position_;
    if (options_.map) {
      extents_ = options_.map(position_, std::min(rest, kWindow));
    } else {
      extents_ = {{rest, false}};
    }
  }
  return extents_[extent_];
}

std::vector<protocol::Extent> all_holes(std::uint64_t /*offset*/, std::uint64_t length) {
  return {{length, true}};
}

}  // namespace rdmablk::copy
