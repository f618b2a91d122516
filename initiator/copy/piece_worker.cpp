#include "initiator/copy/piece_worker.h"

#include <poll.h>

#include <array>

namespace rdmablk::copy {

using initiator::Request;

PieceWorker::PieceWorker(Lane& lane, CopyPlan& plan, unsigned slot_blocks)
    : lane_(lane),
      plan_(plan),
      requests_(lane.blocks() / slot_blocks),
      slots_(requests_.size()),
      ended_(requests_.size()) {
  const std::size_t bytes = slot_blocks * lane.block_size();
  for (std::size_t i = 0; i < slots_.size(); ++i) {
    slots_[i].memory = lane.memory().subspan(i * bytes, bytes);
    slots_[i].request = &requests_[i];
  }
}

void PieceWorker::run() noexcept {
  for (Slot& slot : slots_) start_next_piece(slot);
  while (under_way_ > 0) {
    lane_.queue(Side::source).kick();
    lane_.queue(Side::destination).kick();
    if (take_all_ended()) continue;
    if (plan_.is_stopped()) cancel_waiting();
    if (under_way_ > 0) wait();
  }
}

/// Takes pieces as long as there is nothing to wait for in them.
void PieceWorker::start_next_piece(Slot& slot) noexcept {
  while (const auto piece = next_piece()) {
    slot.piece = *piece;
    slot.done = 0;
    slot.step = 0;
    if (advance(slot)) return;
    bytes_.fetch_add(slot.piece.length, std::memory_order_relaxed);
  }
}

std::optional<Piece> PieceWorker::next_piece() noexcept {
  try {
    return plan_.next();
  } catch (...) {
    plan_failure_ = std::current_exception();
    plan_.stop();
    return std::nullopt;
  }
}

void PieceWorker::go_on(Slot& slot) noexcept {
  if (plan_.is_stopped() || advance(slot)) return;
  bytes_.fetch_add(slot.piece.length, std::memory_order_relaxed);
  start_next_piece(slot);
}

void PieceWorker::submit(Slot& slot, Side side, initiator::Operation operation,
                         std::uint64_t position, std::uint64_t length, std::byte* data) noexcept {
  Request& request = *slot.request;
  request = {};
  request.operation = operation;
  request.offset = lane_.offset(side) + position;
  request.length = length;
  request.data = data;
  request.keys = lane_.keys(side);
  slot.side = side;
  slot.is_under_way = true;
  ++under_way_;
  lane_.queue(side).submit(request);
}

void PieceWorker::fail(const Failure& failure) noexcept {
  if (!failure_) failure_ = failure;
  plan_.stop();
}

void PieceWorker::on_ended(Request& request) noexcept {
  --under_way_;
  Slot& slot = slots_[static_cast<std::size_t>(&request - requests_.data())];
  slot.is_under_way = false;
  if (request.error == 0) return go_on(slot);
  fail({slot.side, request.operation, request.offset, request.length, request.error});
}

bool PieceWorker::take_ended(Side side) noexcept {
  const std::size_t count = lane_.queue(side).poll(ended_);
  // What is submitted meanwhile does not come back before the next poll().
  for (std::size_t i = 0; i < count; ++i) on_ended(*ended_[i]);
  return count > 0;
}

bool PieceWorker::take_all_ended() noexcept {
  const bool from_source = take_ended(Side::source);
  return take_ended(Side::destination) || from_source;
}

/// Takes back what waits for something that will not come any more: a lost target, or what goes
/// before it into a stream.
void PieceWorker::cancel_waiting() noexcept {
  for (Slot& slot : slots_) {
    if (!slot.is_under_way || !lane_.queue(slot.side).cancel(*slot.request)) continue;
    slot.is_under_way = false;
    --under_way_;
  }
}

/// Sleeps until something has ended, if nothing has while going to sleep.
void PieceWorker::wait() noexcept {
  auto& source = lane_.queue(Side::source);
  auto& destination = lane_.queue(Side::destination);
  source.arm();
  destination.arm();
  if (take_all_ended()) return;
  const int stop_fd = plan_.is_stopped() ? -1 : plan_.stop_fd();
  std::array<pollfd, 3> waiting{
      {{source.fd(), POLLIN, 0}, {destination.fd(), POLLIN, 0}, {stop_fd, POLLIN, 0}}};
  ::poll(waiting.data(), waiting.size(), -1);
}

}  // namespace rdmablk::copy
