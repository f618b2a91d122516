#include "target/transfer.h"

#include <cerrno>

namespace rdmablk::target {
namespace {

constexpr unsigned kMaxAttempts = 1000;

}  // namespace

void Transfer::start(Ring& ring, const TransferPlan& plan) noexcept {
  kind = plan.kind;
  durable = plan.durable;
  file = plan.file;
  buffer = plan.buffer;
  data = plan.data;
  length = plan.length;
  offset = plan.offset;
  alignment_ = plan.alignment;
  attempts_ = 0;
  ring_ = &ring;
  ring.submit(*this);
}

void Transfer::on_result(int result) noexcept {
  if (result > 0) return advance(static_cast<std::uint64_t>(result));
  switch (-result) {
    case EINTR:
    case EAGAIN:
      return try_again();
    case 0:
      return on_transferred(kind == Kind::read ? EIO : ENOSPC);
    case ECANCELED:
      return on_transferred(EIO);
    default:
      return on_transferred(-result);
  }
}

void Transfer::try_again() noexcept {
  if (++attempts_ > kMaxAttempts) return on_transferred(EIO);
  ring_->submit(*this);
}

/// What lies behind the last aligned place is transferred once more: direct I/O cannot go on in the
/// middle of a block.
void Transfer::advance(std::uint64_t count) noexcept {
  if (count >= length) return on_transferred(0);
  count -= count % alignment_;
  if (count == 0) return on_transferred(EIO);
  data += count;
  length -= count;
  offset += count;
  attempts_ = 0;
  ring_->submit(*this);
}

}  // namespace rdmablk::target
