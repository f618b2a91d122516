#include "target/flush_group.h"

#include <cerrno>

#include "target/export_identity.h"

namespace rdmablk::target {
namespace {

/// The error of an fdatasync. It is not tried again, whatever it says: the kernel may have
/// forgotten by then what it could not write.
int error_of(int result) {
  switch (-result) {
    case EINTR:
    case EAGAIN:
    case ECANCELED:
      return EIO;
    default:
      return result < 0 ? -result : 0;
  }
}

}  // namespace

FlushGroup::FlushGroup(unsigned number) noexcept {
  kind = Kind::sync;
  file = number;
}

void FlushGroup::add(Writer& writer) {
  const std::lock_guard lock(mutex_);
  writers_.push_back(&writer);
}

void FlushGroup::remove(Writer& writer) noexcept {
  const std::lock_guard lock(mutex_);
  std::erase(writers_, &writer);
}

void FlushGroup::flush(Flush& flush, const Writer* writer, Ring& ring) noexcept {
  if (writer != nullptr && writer->failed_) return flush.on_flushed(EIO);
  flush.writer = writer;
  {
    const std::lock_guard lock(mutex_);
    waiting_.push_back(flush);
    if (!under_way_.empty()) return;
    begin_next(ring);
  }
  ring.submit(*this);
}

/// Decides what the next fdatasync is for; to be submitted behind this.
void FlushGroup::begin_next(Ring& ring) noexcept {
  under_way_.swap(waiting_);
  for (Writer* writer : writers_) writer->submitted_ = writer->acknowledged_;
  ring_ = &ring;
  submitted_at_ = std::chrono::steady_clock::now();
}

void FlushGroup::fail() noexcept {
  {
    const std::lock_guard lock(mutex_);
    mark_failed();
  }
  tell_loss();
}

/// Also when no writer is there any more: one that is away may come back. Not under the lock: it
/// may be written down.
void FlushGroup::tell_loss() const noexcept {
  if (identity_ != nullptr) identity_->mark_lost();
}

void FlushGroup::mark_failed() noexcept {
  ++failures_;
  for (Writer* writer : writers_) {
    // In this order: a write is acknowledged before it ends.
    if (writer->begun_ > 0 || writer->acknowledged_ > writer->stable_) writer->failed_ = true;
  }
}

void FlushGroup::on_result(int result) noexcept {
  const int error = error_of(result);
  Flushes done;
  Ring* next = nullptr;
  {
    const std::lock_guard lock(mutex_);
    syncs_.add(std::chrono::steady_clock::now() - submitted_at_);
    if (error != 0) {
      mark_failed();
    } else {
      for (Writer* writer : writers_) writer->stable_ = writer->submitted_;
    }
    done.swap(under_way_);
    if (!waiting_.empty()) {
      next = ring_;
      begin_next(*ring_);
    }
  }
  if (error != 0) tell_loss();  // before anybody is answered, and comes back
  if (next != nullptr) next->submit(*this);
  while (!done.empty()) {
    Flush& flush = done.front();
    done.pop_front();
    const bool lost = flush.writer != nullptr && flush.writer->failed_;
    flush.on_flushed(error == 0 && lost ? EIO : error);
  }
}

}  // namespace rdmablk::target
