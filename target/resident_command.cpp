#include "target/resident_command.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/memory_mapping.h"

namespace rdmablk::target {

ResidentCommand::ResidentCommand(const ResidentCommandContext& context, ResidentCommandOwner& owner,
                                 unsigned number, std::span<std::byte> buffer)
    : context_(context), owner_(owner), number_(number), buffer_(buffer) {}

void ResidentCommand::begin(const protocol::IoCommand& flush) noexcept {
  command_ = flush;
  ranges_ = 0;
  position_ = end_ = 0;
  stage_ = Stage::writing;
  next_piece();
}

/// Goes on with the current range, or with the next one. What an abandoned flush leaves out is
/// found by comparing.
void ResidentCommand::next_piece() noexcept {
  if (context_.abandoned) return owner_.on_done(*this, ECANCELED);
  if (position_ == end_) {
    if (ranges_ == command_.range_count()) return finish();
    const std::uint64_t block = context_.store.file().alignment();
    const protocol::Range range = command_.range(ranges_++);
    position_ = range.offset & ~(block - 1);
    end_ = round_up(range.offset + range.length, block);
  }
  hold_.begin = position_;
  hold_.end = std::min<std::uint64_t>(end_, position_ + buffer_.size());
  if (context_.store.ranges().acquire(hold_)) locked();
}

void ResidentCommand::on_granted() noexcept {
  context_.thread.is_current() ? locked() : context_.thread.post(turn_);
}

/// What has been cut off since the flush came is left out.
void ResidentCommand::locked() noexcept {
  const std::uint64_t stop = std::min(hold_.end, context_.store.file().size());
  if (stop <= hold_.begin) {
    context_.store.ranges().release(hold_);
    position_ = end_;
    return next_piece();
  }
  TransferPlan plan;
  plan.kind = RingOperation::Kind::write;
  plan.file = context_.store.number();
  plan.buffer = context_.buffers;
  plan.data = buffer_.data();
  plan.length = stop - hold_.begin;
  plan.offset = hold_.begin;
  plan.alignment = context_.store.file().alignment();
  std::memcpy(plan.data, context_.resident.memory().data() + plan.offset, plan.length);
  context_.writer.begin();
  data_.start(context_.thread.ring(), plan);
}

void ResidentCommand::on_written(int error) noexcept {
  context_.store.ranges().release(hold_);
  if (error == 0) context_.writer.acknowledge();
  context_.writer.end();
  if (error != 0) {
    context_.store.report("write what is flushed", hold_.begin, error);
    return owner_.on_done(*this, error);
  }
  position_ = hold_.end;
  next_piece();
}

/// All ranges are written.
void ResidentCommand::finish() noexcept {
  if (command_.has_more()) return owner_.on_done(*this, 0);
  // Another thread may be through before the call has returned.
  stage_ = Stage::awaiting_others;
  if (!context_.resident.await_others(others_)) flush();
}

void ResidentCommand::on_settled(int error) noexcept {
  error_ = error;
  context_.thread.post(turn_);
}

void ResidentCommand::flush() noexcept {
  stage_ = Stage::flushing;
  context_.store.flushes().flush(flush_, &context_.writer, context_.thread.ring());
}

void ResidentCommand::on_flushed(int error) noexcept {
  if (error != 0) context_.store.report("flush", 0, error);
  error_ = error;
  context_.thread.is_current() ? owner_.on_done(*this, error) : context_.thread.post(turn_);
}

void ResidentCommand::on_turn() noexcept {
  if (stage_ == Stage::writing) return locked();
  if (stage_ == Stage::awaiting_others && error_ == 0) return flush();
  owner_.on_done(*this, error_);
}

}  // namespace rdmablk::target
