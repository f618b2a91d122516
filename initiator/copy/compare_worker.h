#pragma once

#include <cstdint>
#include <optional>

#include "initiator/copy/piece_worker.h"

namespace rdmablk::copy {

/// Where two images differ first.
struct Difference {
  std::uint64_t position = 0;  ///< bytes from where the copied range begins
  unsigned source = 0;         ///< the byte that each has there
  unsigned destination = 0;
};

/// Reads both ends again and compares. A worker that finds a difference has the plan hand out no
/// more: what was handed out before it is looked at still, so that the least of all workers'
/// differences is the first one.
class CompareWorker final : public PieceWorker {
 public:
  CompareWorker(Lane& lane, CopyPlan& plan) : PieceWorker(lane, plan, kBlocks) {}

  /// Blocks of a lane that a piece needs: one for each end.
  static constexpr unsigned kBlocks = 2;

  /// After run().
  const std::optional<Difference>& difference() const noexcept { return difference_; }

 private:
  enum Step : unsigned { kBegin, kSource, kDestination };

  bool advance(Slot& slot) override;
  void compare(const Slot& slot) noexcept;

  std::optional<Difference> difference_;
};

}  // namespace rdmablk::copy
