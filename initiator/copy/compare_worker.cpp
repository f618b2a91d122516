#include "initiator/copy/compare_worker.h"

#include <algorithm>
#include <cstring>

namespace rdmablk::copy {

using initiator::Operation;

bool CompareWorker::advance(Slot& slot) {
  const auto [offset, length, is_hole] = slot.piece;
  if (slot.step == kBegin && !is_hole) {
    slot.step = kSource;
    submit(slot, Side::source, Operation::read, offset, length, slot.memory.data());
    return true;
  }
  if (slot.step != kDestination) {
    if (is_hole) std::memset(slot.memory.data(), 0, length);
    slot.step = kDestination;
    submit(slot, Side::destination, Operation::read, offset, length,
           slot.memory.data() + lane().block_size());
    return true;
  }
  compare(slot);
  return false;
}

void CompareWorker::compare(const Slot& slot) noexcept {
  const std::byte* const source = slot.memory.data();
  const std::byte* const destination = source + lane().block_size();
  if (std::memcmp(source, destination, slot.piece.length) == 0) return;
  const auto at = static_cast<std::uint64_t>(
      std::mismatch(source, source + slot.piece.length, destination).first - source);
  plan().finish();
  const std::uint64_t position = slot.piece.offset + at;
  if (difference_ && difference_->position < position) return;
  difference_ = {position, std::to_integer<unsigned>(source[at]),
                 std::to_integer<unsigned>(destination[at])};
}

}  // namespace rdmablk::copy
