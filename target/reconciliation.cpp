#include "target/reconciliation.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace rdmablk::target {
namespace {

constexpr std::size_t kPieces = 4;
constexpr std::uint64_t kPieceSize = std::uint64_t{1} << 20;

}  // namespace

Reconciliation::Reconciliation(FileStore& store, std::span<const std::byte> memory,
                               IoThread& thread, ReconciliationOwner& owner)
    : store_(store), memory_(memory), thread_(thread), owner_(owner) {
  for (std::size_t i = 0; i < kPieces; ++i) pieces_.emplace_back(*this, i);
}

void Reconciliation::start(std::uint64_t repaired) noexcept {
  position_ = 0;
  done_ = 0;
  result_ = {.failures = store_.flushes().failures()};  // once: another one may come any time
  everything_ = result_.failures != repaired;
  try {
    buffers_ = MemoryMapping::anonymous(kPieces * kPieceSize);
  } catch (const std::exception& /*error*/) {
    fail("take memory for it", ENOMEM);
    return end();
  }
  buffer_ = thread_.ring().try_register_buffer(buffers_.bytes());
  active_ = pieces_.size();
  for (Piece& piece : pieces_) next(piece);
}

/// Has a piece work on what comes next, if there is anything.
void Reconciliation::next(Piece& piece) noexcept {
  if (stopped_) fail("go on", ECANCELED);
  const std::uint64_t size = store_.file().size();
  if (result_.error == 0 && position_ < size) {
    const std::uint64_t begin = position_;
    position_ += std::min(kPieceSize, size - begin);
    return piece.begin(begin, position_ - begin);
  }
  if (--active_ > 0) return;
  result_.error == 0 ? flush() : end();
}

void Reconciliation::fail(const char* doing, int error) noexcept {
  if (result_.error != 0) return;
  result_.doing = doing;
  result_.error = error;
}

void Reconciliation::flush() noexcept {
  store_.flushes().flush(flush_, nullptr, thread_.ring());
}

void Reconciliation::Flush::on_flushed(int error) noexcept {
  run_.flush_error_ = error;
  run_.thread_.is_current() ? run_.flushed() : run_.thread_.post(run_.turn_);
}

void Reconciliation::flushed() noexcept {
  if (flush_error_ != 0) fail("flush", flush_error_);
  // Somebody else's flush may have been told of writes of this one that got lost.
  if (store_.flushes().failures() != result_.failures) fail("flush", EIO);
  end();
}

void Reconciliation::end() noexcept {
  thread_.ring().unregister_buffer(std::exchange(buffer_, RingOperation::kNoBuffer));
  buffers_ = {};
  owner_.on_reconciled(result_);
}

void Reconciliation::piece_done(Piece& piece) noexcept {
  owner_.on_progress(done_);
  next(piece);
}

void Reconciliation::Piece::begin(std::uint64_t offset, std::uint64_t length) noexcept {
  buffer_ = run_.buffers_.data() + number_ * kPieceSize;
  length_ = length;
  checked_ = 0;
  writing_ = 0;
  hold_.begin = offset;
  hold_.end = offset + length;
  if (run_.store_.ranges().acquire(hold_)) locked();
}

void Reconciliation::Piece::Hold::on_granted() noexcept {
  IoThread& thread = piece_.run_.thread_;
  thread.is_current() ? piece_.locked() : thread.post(piece_.turn_);
}

/// What has been cut off meanwhile is left out.
void Reconciliation::Piece::locked() noexcept {
  const std::uint64_t size = run_.store_.file().size();
  if (hold_.begin >= size) {
    run_.store_.ranges().release(hold_);
    return run_.next(*this);
  }
  length_ = std::min(length_, size - hold_.begin);
  if (run_.everything_) return write_next();
  transfer(RingOperation::Kind::read, 0, length_);
}

/// @param offset within the piece.
void Reconciliation::Piece::transfer(RingOperation::Kind kind, std::uint64_t offset,
                                     std::uint64_t length) noexcept {
  TransferPlan plan;
  plan.kind = kind;
  plan.file = run_.store_.number();
  plan.buffer = run_.buffer_;
  plan.data = buffer_ + offset;
  plan.length = length;
  plan.offset = hold_.begin + offset;
  plan.alignment = run_.store_.file().alignment();
  data_.start(run_.thread_.ring(), plan);
}

void Reconciliation::Piece::on_transferred(int error) noexcept {
  if (error != 0) {
    run_.store_.ranges().release(hold_);
    run_.fail(writing_ == 0 ? "read" : "write", error);
    return run_.next(*this);
  }
  run_.result_.written += writing_;
  checked_ += writing_;
  write_next();
}

bool Reconciliation::Piece::differs(std::uint64_t offset) const noexcept {
  return run_.everything_ ||
         std::memcmp(buffer_ + offset, run_.memory_.data() + hold_.begin + offset,
                     block_end(offset) - offset) != 0;
}

std::uint64_t Reconciliation::Piece::block_end(std::uint64_t offset) const noexcept {
  return std::min<std::uint64_t>(offset + run_.store_.file().block_size(), length_);
}

/// Writes the next blocks that differ; without any, the piece is done.
void Reconciliation::Piece::write_next() noexcept {
  while (checked_ < length_ && !differs(checked_)) checked_ = block_end(checked_);
  std::uint64_t end = checked_;
  while (end < length_ && differs(end)) end = block_end(end);
  writing_ = end - checked_;
  if (writing_ == 0) {
    run_.store_.ranges().release(hold_);
    run_.done_ += length_;
    return run_.piece_done(*this);
  }
  std::memcpy(buffer_ + checked_, run_.memory_.data() + hold_.begin + checked_, writing_);
  transfer(RingOperation::Kind::write, checked_, writing_);
}

}  // namespace rdmablk::target
