#include "initiator/copy/copy_worker.h"

#include <cerrno>

#include "initiator/copy/zero_runs.h"

namespace rdmablk::copy {

using initiator::Operation;

bool CopyWorker::advance(Slot& slot) {
  if (slot.step == kBegin) return begin(slot);
  if (slot.step == kRead && !take_read(slot)) return false;
  return write_on(slot);
}

bool CopyWorker::begin(Slot& slot) noexcept {
  if (slot.piece.is_hole) {
    slot.step = kWrite;
    return write_on(slot);
  }
  slot.step = kRead;
  submit(slot, Side::source, Operation::read, slot.piece.offset, slot.piece.length,
         slot.memory.data());
  return true;
}

/// What was read may be less than what was asked for, at the end of a stream.
bool CopyWorker::take_read(Slot& slot) noexcept {
  slot.step = kWrite;
  if (slot.request->length < slot.piece.length) plan().finish();
  slot.piece.length = slot.request->length;
  return fits(slot);
}

/// A stream may have more than there is room for.
bool CopyWorker::fits(const Slot& slot) noexcept {
  const std::uint64_t offset = lane().offset(Side::destination) + slot.piece.offset;
  const std::uint64_t limit = lane().limit(Side::destination);
  if (slot.piece.length == 0) return true;  // there was no more
  if (offset <= limit && slot.piece.length <= limit - offset) return true;
  fail({Side::destination, Operation::write, offset, slot.piece.length, EFBIG});
  return false;
}

bool CopyWorker::write_on(Slot& slot) noexcept {
  while (slot.done < slot.piece.length) {
    const std::uint64_t rest = slot.piece.length - slot.done;
    if (slot.piece.is_hole) {
      if (put_zeroes(slot, rest)) return true;
      continue;
    }
    const auto memory = slot.memory.subspan(slot.done, rest);
    const Run run = options_.sparse_unit == 0 ? Run{memory.size(), false}
                                              : next_run(memory, options_.sparse_unit);
    if (run.is_zero) {
      if (put_zeroes(slot, run.length)) return true;
      continue;
    }
    data_bytes_ += run.length;
    submit(slot, Side::destination, Operation::write, slot.piece.offset + slot.done, run.length,
           memory.data());
    slot.done += run.length;
    return true;
  }
  return false;
}

/// @return whether there is something to wait for.
bool CopyWorker::put_zeroes(Slot& slot, std::uint64_t length) noexcept {
  const std::uint64_t position = slot.piece.offset + slot.done;
  zero_bytes_ += length;
  slot.done += length;
  if (options_.zeroes == Zeroes::skip) return false;
  submit(slot, Side::destination,
         options_.zeroes == Zeroes::discard ? Operation::discard : Operation::zero, position,
         length);
  return true;
}

}  // namespace rdmablk::copy
