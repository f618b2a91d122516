#include <algorithm>
#include <cerrno>
#include <cstring>

#include "initiator/capi/failure.h"
#include "initiator/capi/queue.h"

// Calls that wait: their data goes in pieces by memory of the queue's own, so that a call whose
// time is up can return although the device works on a piece. Such a piece is abandoned, and of use
// again when it ends.

namespace rdmablk::capi {
namespace {

using initiator::Operation;

constexpr std::size_t kPieceSize = std::size_t{256} << 10U;

const char* text_of(int error) noexcept {
  switch (error) {
    case ETIMEDOUT:
      return "the time is up";
    case ENOSPC:
      return "the target's storage is full, or the image has become smaller";
    case EIO:
      return "the target's storage fails, or the connection is lost";
    default:
      return "the target refused it, or failed";
  }
}

}  // namespace

int RequestQueue::run(const Wish& wish) noexcept {
  if (const int result = check(wish, 0)) return result;
  if (wish.length == 0 && wish.operation != Operation::flush) return 0;
  if (wish.has_data() && wish.data == nullptr) return fail(EINVAL, "the data is NULL");
  if (wish.has_data() && bounce_ == nullptr) {
    const int result = guarded([this] {
      bounce_ = image_.make_buffers(pieces_.size() * kPieceSize);
      return 0;
    });
    if (result != 0) return result;
  }
  const int error = perform(wish);
  if (is_watched_) {
    queue_->arm();
    collect();
  }
  show();
  return error == 0 ? 0 : fail(error, text_of(error));
}

/// @return 0, or an errno value.
int RequestQueue::perform(const Wish& wish) noexcept {
  ++round_;  // the number of this call
  const auto deadline = deadline_from_now();
  call_deadline_ = deadline;
  Wish rest = wish;
  is_begun_ = false;
  int error = 0;
  while (true) {
    if (error == 0) begin_pieces(rest);
    collect();
    if (settle_pieces(error)) continue;
    const bool is_through = is_begun_ && (rest.length == 0 || error != 0);
    if (is_through && !has_pieces()) return error;
    queue_->arm();
    collect();
    if (settle_pieces(error)) continue;
    if (is_shown_) {
      // Of requests: this is not what the call waits for.
      shown_.take();
      is_shown_ = false;
    }
    if (sleep(deadline) == ETIMEDOUT) {
      abandon_pieces();
      return ETIMEDOUT;
    }
  }
}

/// Submits as much of what is left as there are pieces for.
void RequestQueue::begin_pieces(Wish& rest) noexcept {
  while (rest.length > 0 || !is_begun_) {
    Slot* const slot = take_piece();
    if (slot == nullptr) return;
    is_begun_ = true;
    Wish piece = rest;
    if (rest.has_data()) {
      piece.length = std::min<std::uint64_t>(rest.length, kPieceSize);
      piece.data =
          bounce_->bytes().data() + static_cast<std::size_t>(slot - pieces_.data()) * kPieceSize;
      if (rest.operation == Operation::write) std::memcpy(piece.data, rest.data, piece.length);
      slot->user = rest.data;
      slot->keys = bounce_->keys();
      rest.data += piece.length;
    }
    slot->number = round_;
    rest.offset += piece.length;
    rest.length -= piece.length;
    start(*slot, piece, call_deadline_);
  }
}

/// A piece that nothing uses; null: there is none now.
Slot* RequestQueue::take_piece() noexcept {
  const auto found = std::ranges::find_if(
      pieces_, [](const Slot& slot) { return slot.state == Slot::State::idle; });
  return found == pieces_.end() ? nullptr : &*found;
}

/// Deals with the pieces that have ended, those that earlier calls abandoned as well.
/// @param error set to the first error of this call's. @return whether there were any.
bool RequestQueue::settle_pieces(int& error) noexcept {
  bool any = false;
  for (Slot& slot : pieces_) {
    if (slot.state != Slot::State::ended) continue;
    slot.state = Slot::State::idle;
    any = true;
    if (slot.number != round_) continue;
    if (slot.error != 0) {
      if (error == 0) error = slot.error;
    } else if (slot.operation == Operation::read) {
      std::memcpy(slot.user, slot.data, slot.length);
    }
  }
  return any;
}

/// Whether pieces of this call are under way.
bool RequestQueue::has_pieces() const noexcept {
  return std::ranges::any_of(pieces_, [this](const Slot& slot) {
    return slot.state == Slot::State::under_way && slot.number == round_;
  });
}

void RequestQueue::abandon_pieces() noexcept {
  for (Slot& slot : pieces_) {
    if (slot.state != Slot::State::under_way || slot.given_up != 0) continue;
    slot.given_up = ETIMEDOUT;
    ++given_up_;
  }
  if (given_up_ > 0) let_go();
}

}  // namespace rdmablk::capi
