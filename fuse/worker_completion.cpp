#include <poll.h>
#include <spdlog/spdlog.h>

#include <array>
#include <cerrno>
#include <span>
#include <utility>

#include "common/counted.h"
#include "common/probes.h"
#include "fuse/reply.h"
#include "fuse/worker.h"

namespace rdmablk::fuse {

namespace {

using initiator::Operation;

/// How long a worker that stops waits for what is in flight.
constexpr std::chrono::seconds kDrainTime{2};

/// Whether an operation that has succeeded has something for a later flush to do.
bool needs_flush(const Slot& slot) noexcept {
  switch (slot.operation) {
    case Operation::write:
    case Operation::zero:
    case Operation::discard:
      return !slot.durable;
    default:
      return false;
  }
}

}  // namespace

/// Deals with all that has ended, and with what is interrupted. @return whether there was any.
bool Worker::settle() noexcept {
  const bool completed = complete();
  if (completed) is_stalled_ = false;
  const bool let_go = let_interrupted_go();
  const bool admitted = admit_waiting();
  return completed || let_go || admitted;
}

bool Worker::complete() noexcept {
  std::array<initiator::Request*, 64> done{};
  bool any = false;
  while (const std::size_t count = queue_->poll(done)) {
    polled_at_ = Clock::now();
    for (initiator::Request* const request : std::span(done).first(count)) {
      if (!last_flush_.takes(*request)) finish(static_cast<Slot&>(*request));
    }
    any = true;
    if (std::exchange(has_more_to_seek_, false)) queue_->kick();
  }
  return any;
}

void Worker::finish(Slot& slot) noexcept {
  if (flush_has_work_ && slot.error == 0) note(slot);
  if (!answer(slot)) {
    has_more_to_seek_ = true;
    return queue_->submit(slot);
  }
  if (slot.interrupted) --interrupted_;
  slots_.give_back(slot);
}

/// @return false when it is not through, and is to be submitted again.
bool Worker::answer(Slot& slot) noexcept {
  const int error = slot.error;
  // What is counted is there for who has the answer.
  if (slot.operation != Operation::map) count_end(slot, error, polled_at_);
  RDMABLK_PROBE(complete, probe_id<initiator::Request>(slot), static_cast<unsigned>(slot.operation),
                slot.offset, slot.length, slot.number, error);
  if (slot.operation != Operation::map) {
    reply(slot);
  } else if (!reply_to_seek(slot)) {
    return false;
  } else {
    count_end(slot, error, polled_at_);
  }
  RDMABLK_PROBE(reply, probe_id<initiator::Request>(slot), static_cast<unsigned>(slot.operation),
                slot.offset, slot.length, slot.number, error);
  if (slow_log_.is_slow(polled_at_ - slot.taken_at)) [[unlikely]] {
    slow_log_.tell(
        {.slot = slot, .error = error, .completed_at = polled_at_, .answered_at = Clock::now()});
  }
  return true;
}

void Worker::count_end(const Slot& slot, int error, Clock::time_point now) noexcept {
  counters_.end(metrics::IoKind{static_cast<std::uint8_t>(slot.operation)}, slot.length, error,
                now - slot.taken_at);
}

/// Keeps count of what is yet to be flushed; before the request is answered.
void Worker::note(const Slot& slot) noexcept {
  if (needs_flush(slot)) {
    team_.unsynced.add(number_);
  } else if (slot.operation == Operation::flush) {
    team_.unsynced.flushed(slot.covers);
  }
}

/// Moves requests from the waiting room to slots that have become free.
bool Worker::admit_waiting() noexcept {
  bool any = false;
  while (!waiting_room_.empty() && slots_.has_free()) {
    Slot& slot = *slots_.take();
    waiting_room_.move_first(slot);
    hand_over(slot);
    any = true;
  }
  if (any) queue_->kick();
  return any;
}

bool Worker::let_interrupted_go() noexcept {
  bool any = false;
  std::array<std::uint64_t, 64> numbers{};
  while (const std::size_t count = team_.interrupts.take(number_, numbers)) {
    for (const std::uint64_t number : std::span(numbers).first(count)) any |= interrupt(number);
  }
  if (interrupted_ == 0) return any;
  for (Slot& slot : slots_.slots()) {
    if (slot.fuse_request == nullptr || !slot.interrupted || !queue_->cancel(slot)) continue;
    --interrupted_;
    count_end(slot, EINTR, now_);
    reply_error(slot, EINTR);
    slots_.give_back(slot);
    any = true;
  }
  return any;
}

/// Looks for what is interrupted among this worker's requests. @return whether it was answered.
bool Worker::interrupt(std::uint64_t number) noexcept {
  if (Slot* const place = waiting_room_.remove(number)) {
    count_end(*place, EINTR, now_);
    reply_error(*place, EINTR);
    waiting_room_.give_back(*place);
    return true;
  }
  for (Slot& slot : slots_.slots()) {
    if (slot.fuse_request == nullptr || slot.number != number || slot.interrupted) continue;
    slot.interrupted = true;
    ++interrupted_;
  }
  return false;
}

/// Settles until `done` says so. @return false when the time came first.
template <typename Done>
bool Worker::settle_within(Clock::duration time, Done done) noexcept {
  const auto end = Clock::now() + time;
  while (true) {
    queue_->arm();
    settle();
    if (done()) return true;
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - Clock::now()).count();
    if (left <= 0) return false;
    pollfd source{queue_->fd(), POLLIN, 0};
    ::poll(&source, 1, static_cast<int>(left));
  }
}

/// Answers what ends within kDrainTime.
void Worker::drain() noexcept {
  queue_->kick();
  settle_within(kDrainTime, [this] { return slots_.taken() == 0 || !source_.is_connected(); });
  const std::size_t left = slots_.taken();
  if (left > 0 && !source_.is_connected()) {
    spdlog::warn("{} failed: the target is away", counted(left, "request"));
  } else if (left > 0) {
    spdlog::warn("{} did not end within {} s, and failed", counted(left, "request"),
                 kDrainTime.count());
  }
  if (flush_has_work_ && team_.unsynced.any()) flush_last();
}

void Worker::flush_last() noexcept {
  const std::uint64_t covered = team_.unsynced.count();
  const auto ended = [this] { return last_flush_.has_ended() || !source_.is_connected(); };
  if (source_.is_connected()) {
    last_flush_.submit(*queue_);
    if (!settle_within(LastFlush::kLong, ended)) {
      spdlog::info("waiting for the target to flush what was written");
      settle_within(LastFlush::kTime - LastFlush::kLong, ended);
    }
  }
  if (last_flush_.has_succeeded()) return team_.unsynced.flushed(covered);
  flush_problem_ = last_flush_.problem(source_.is_connected());
}

/// Answers what is still there. The queue holds on to what is in flight: its slots stay taken.
void Worker::fail_rest() noexcept {
  const auto fail = [this](Slot& slot) {
    count_end(slot, EIO, now_);
    reply_error(slot, EIO);
  };
  while (Slot* const place = waiting_room_.remove_first()) fail(*place);
  for (Slot& slot : slots_.slots()) {
    if (slot.fuse_request != nullptr) fail(slot);
  }
}

}  // namespace rdmablk::fuse
