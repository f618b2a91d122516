#include "target/file_command.h"

#include <linux/falloc.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "common/memory_mapping.h"

namespace rdmablk::target {
namespace {

using protocol::MessageType;

/// The most that is zeroed by one call: it cannot be cancelled, and more may follow.
constexpr std::uint64_t kMaxAllocation = std::uint64_t{256} << 20;

/// fallocate(2) cannot do it here, so something else has to.
bool is_unsupported(int error) {
  return error == EOPNOTSUPP || error == EINVAL || error == ENOSYS || error == ENODEV;
}

const char* name_of(MessageType type) {
  switch (type) {
    case MessageType::read:
      return "read";
    case MessageType::write:
      return "write";
    case MessageType::zero:
      return "write zeroes";
    case MessageType::flush:
      return "flush";
    default:
      return "find data and holes";
  }
}

}  // namespace

FileCommand::FileCommand(const FileCommandContext& context, FileCommandOwner& owner,
                         unsigned number, std::span<std::byte> slot, std::span<std::byte> edges)
    : context_(context),
      owner_(owner),
      number_(number),
      alignment_(context.store.file().alignment()),
      slot_(slot),
      edges_(edges) {}

std::uint64_t FileCommand::down(std::uint64_t offset) const noexcept {
  return offset & ~(alignment_ - 1);
}

std::uint64_t FileCommand::up(std::uint64_t offset) const noexcept {
  return down(offset + alignment_ - 1);
}

bool FileCommand::writes() const noexcept {
  return type_ == MessageType::write || type_ == MessageType::zero;
}

bool FileCommand::is_durable() const noexcept {
  return (request_.flags & protocol::IoRequest::kDurable) != 0;
}

/// A page cache that cannot be written back for want of space may report that to a durable write in
/// place of the next fdatasync(2), with an error that could be about the write alone.
bool FileCommand::writes_through() const noexcept {
  return is_durable() && type_ == MessageType::write && context_.store.file().is_direct();
}

bool FileCommand::discards() const noexcept {
  return (request_.flags & protocol::IoRequest::kDiscard) != 0;
}

void FileCommand::begin(MessageType type, const protocol::IoRequest& request,
                        std::span<std::byte> reply) noexcept {
  type_ = type;
  request_ = request;
  reply_ = reply;
  reply_size_ = 0;
  switch (type) {
    case MessageType::read:
      return read();
    case MessageType::write:
    case MessageType::zero:
      return lock();
    case MessageType::flush:
      return flush();
    default:
      stage_ = Stage::mapping;
      return context_.blocking.post(turn_);
  }
}

void FileCommand::transfer(Stage stage, RingOperation::Kind kind, std::span<std::byte> memory,
                           unsigned buffer, std::uint64_t offset) noexcept {
  stage_ = stage;
  TransferPlan plan;
  plan.kind = kind;
  plan.durable = stage == Stage::writing && writes_through();
  plan.file = context_.store.number();
  plan.buffer = buffer;
  plan.data = memory.data();
  plan.length = memory.size();
  plan.offset = offset;
  plan.alignment = static_cast<std::uint32_t>(alignment_);
  data_.start(context_.thread.ring(), plan);
}

void FileCommand::read() noexcept {
  const std::uint64_t begin = down(request_.offset);
  const std::uint64_t length = up(request_.offset + request_.length) - begin;
  transfer(Stage::reading, RingOperation::Kind::read, slot_.first(length), context_.slots, begin);
}

void FileCommand::lock() noexcept {
  if (is_durable() && context_.writer->has_failed()) return done(EIO);
  context_.writer->begin();
  hold_.begin = down(request_.offset);
  hold_.end = up(request_.offset + request_.length);
  // Another thread may grant it before acquire() has returned.
  stage_ = Stage::locking;
  if (context_.store.ranges().acquire(hold_)) locked();
}

void FileCommand::on_granted() noexcept {
  if (context_.thread.is_current()) return locked();
  context_.thread.post(turn_);
}

void FileCommand::locked() noexcept {
  // The file may have been cut off since the command came: to write would make it longer again.
  if (hold_.end > context_.store.file().size()) return finish(ENOSPC);
  if (type_ == MessageType::write) {
    return write_piece(request_.offset, request_.offset + request_.length);
  }
  zeroed_ = request_.offset;
  zero_next();
}

/// Writes bytes of the file from where they belong in the slot.
void FileCommand::write_piece(std::uint64_t begin, std::uint64_t end) noexcept {
  piece_begin_ = begin;
  piece_end_ = end;
  if (begin != down(begin)) {
    transfer(Stage::reading_head, RingOperation::Kind::read, edges_.first(alignment_),
             context_.edges, down(begin));
  } else {
    read_tail();
  }
}

void FileCommand::read_tail() noexcept {
  if (piece_end_ == down(piece_end_)) return write_blocks();
  transfer(Stage::reading_tail, RingOperation::Kind::read, edges_.subspan(alignment_, alignment_),
           context_.edges, down(piece_end_));
}

/// Completes the first block with what the file has in front of the piece; and behind it, if it
/// ends there.
void FileCommand::fill_head() noexcept {
  const std::uint64_t block = down(piece_begin_);
  std::memcpy(slot_.data(), edges_.data(), piece_begin_ - block);
  if (piece_end_ >= block + alignment_) return read_tail();
  const std::uint64_t end = piece_end_ - block;
  std::memcpy(slot_.data() + end, edges_.data() + end, alignment_ - end);
  write_blocks();
}

/// Completes the last block with what the file has behind the piece.
void FileCommand::fill_tail() noexcept {
  const std::uint64_t rest = piece_end_ - down(piece_end_);
  std::memcpy(slot_.data() + (piece_end_ - down(piece_begin_)), edges_.data() + alignment_ + rest,
              alignment_ - rest);
  write_blocks();
}

void FileCommand::write_blocks() noexcept {
  const std::uint64_t begin = down(piece_begin_);
  transfer(Stage::writing, RingOperation::Kind::write, slot_.first(up(piece_end_) - begin),
           context_.slots, begin);
}

void FileCommand::on_transferred(int error) noexcept {
  // A failed durable write took the kernel's report of other writes that were lost.
  if (error == EIO && stage_ == Stage::writing && writes_through()) context_.store.flushes().fail();
  if (error != 0) return finish(error);
  switch (stage_) {
    case Stage::reading_head:
      return fill_head();
    case Stage::reading_tail:
      return fill_tail();
    case Stage::writing:
      if (type_ == MessageType::write) return finish(0);
      zeroed_ = piece_end_;
      return zero_next();
    default:
      return finish(0);
  }
}

/// Goes on zeroing: whole blocks by fallocate(2) where it can, the rest by writing. Blocks also of
/// a file that takes any byte: a disk refuses less, as it refuses what it cannot do at all.
void FileCommand::zero_next() noexcept {
  const std::uint64_t end = request_.offset + request_.length;
  if (zeroed_ == end) return finish(0);
  if (context_.abandoned) return finish(ECANCELED);
  const std::uint64_t block = context_.store.file().block_size();
  const std::uint64_t blocks_begin = round_up(zeroed_, block);
  const std::uint64_t blocks_end = end - end % block;
  if (!can_allocate() || blocks_begin >= blocks_end) {
    return write_zeroes(std::min<std::uint64_t>(end, down(zeroed_) + down(slot_.size())));
  }
  if (zeroed_ < blocks_begin) return write_zeroes(blocks_begin);
  allocate(std::min(blocks_end - zeroed_, kMaxAllocation));
}

void FileCommand::write_zeroes(std::uint64_t end) noexcept {
  std::memset(slot_.data() + (zeroed_ - down(zeroed_)), 0, end - zeroed_);
  write_piece(zeroed_, end);
}

bool FileCommand::punches() const noexcept {
  return discards() && context_.store.can_punch();
}

bool FileCommand::can_allocate() const noexcept {
  return punches() || context_.store.can_zero();
}

void FileCommand::allocate(std::uint64_t length) noexcept {
  allocation_.kind = RingOperation::Kind::allocate;
  allocation_.file = context_.store.number();
  allocation_.offset = zeroed_;
  allocation_.length = length;
  allocation_.mode =
      FALLOC_FL_KEEP_SIZE | (punches() ? FALLOC_FL_PUNCH_HOLE : FALLOC_FL_ZERO_RANGE);
  context_.thread.ring().submit(allocation_);
}

void FileCommand::on_allocated(int result) noexcept {
  if (result == -EINTR) return context_.thread.ring().submit(allocation_);
  if (result == 0) {
    zeroed_ += allocation_.length;
    return zero_next();
  }
  if (!is_unsupported(-result)) return finish(-result);
  const bool punched = (allocation_.mode & FALLOC_FL_PUNCH_HOLE) != 0;
  punched ? context_.store.cannot_punch() : context_.store.cannot_zero();
  zero_next();
}

void FileCommand::flush() noexcept {
  if (context_.writer == nullptr) return done(0);  // it has written nothing
  stage_ = Stage::flushing;
  context_.store.flushes().flush(flush_, context_.writer, context_.thread.ring());
}

void FileCommand::on_flushed(int error) noexcept {
  error_ = error;
  if (context_.thread.is_current()) return done(error);
  context_.thread.post(turn_);
}

void FileCommand::map() noexcept {
  std::array<protocol::Extent, protocol::kMaxExtents> extents;
  const std::size_t room = std::min<std::size_t>(std::max(request_.count, 1U), extents.size());
  std::size_t count = 0;
  error_ = context_.store.file().map(request_.offset, request_.length,
                                     std::span(extents).first(room), count);
  if (error_ != 0) return;
  protocol::WireWriter writer(reply_);
  protocol::encode_extents(writer, std::span(extents).first(count));
  reply_size_ = writer.size();
}

void FileCommand::on_turn() noexcept {
  if (stage_ == Stage::locking) return locked();
  if (stage_ == Stage::mapping && !context_.thread.is_current()) {
    map();
    return context_.thread.post(turn_);
  }
  done(error_);
}

/// What was locked is through.
void FileCommand::finish(int error) noexcept {
  if (writes()) {
    context_.store.ranges().release(hold_);
    if (error == 0) context_.writer->acknowledge();
    context_.writer->end();
    if (error == 0 && is_durable() && !writes_through()) return flush();
  }
  done(error);
}

void FileCommand::done(int error) noexcept {
  if (error != 0 && error != ECANCELED) {
    context_.store.report(name_of(type_), request_.offset, error);
  }
  stage_ = Stage::idle;
  owner_.on_done(*this, error);
}

}  // namespace rdmablk::target
