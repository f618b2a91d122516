#include "tests/faults/history_verifier.h"

#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>

namespace rdmablk::faults {
namespace {

/// Takes a write out of a list. @return nothing when it is not in it.
template <typename Write>
std::optional<Write> take(std::vector<Write>& writes, const Record& record) {
  const auto found = std::find_if(writes.begin(), writes.end(), [&](const Write& each) {
    return each.word == record.word && each.tag == record.tag;
  });
  if (found == writes.end()) return std::nullopt;
  const Write taken = *found;
  *found = writes.back();
  writes.pop_back();
  return taken;
}

}  // namespace

HistoryVerifier::HistoryVerifier(const SharedHistory& history)
    : history_(history),
      checker_(history.shape().words(), history.shape().effects()),
      states_(history.shape().lanes) {}

std::size_t HistoryVerifier::advance() {
  // First the time, then the horizons, then the records: what is told later began after all these.
  Time horizon = now();
  for (unsigned i = 0; i < states_.size(); ++i) {
    watch_owner(i);
    const bool died = owner_has_died(states_[i]);
    if (!died) horizon = std::min(horizon, history_.lane(i).horizon.load());
  }
  std::size_t records = 0;
  for (unsigned i = 0; i < states_.size(); ++i) records += drain(i);
  checker_.advance(horizon);
  return records;
}

void HistoryVerifier::finish() {
  for (unsigned i = 0; i < states_.size(); ++i) drain(i);
  checker_.finish();
}

bool HistoryVerifier::has_writers() const noexcept {
  for (unsigned i = 0; i < states_.size(); ++i) {
    if (history_.lane(i).owner.load() != 0) return true;
  }
  return false;
}

std::size_t HistoryVerifier::drain(unsigned index) {
  Lane& lane = history_.lane(index);
  State& state = states_[index];
  const bool died = owner_has_died(state);  // before the records: these are its last
  const std::uint64_t from = lane.taken.load(std::memory_order_relaxed);
  const std::uint64_t to = lane.told.load(std::memory_order_acquire);
  for (std::uint64_t i = from; i != to; ++i) apply(state, lane.records[i % Lane::kRecords]);
  lane.taken.store(to, std::memory_order_release);
  if (died) {
    fail_open(state);
    ++deaths_;
    state.process.reset();
    state.owner = 0;
    lane.horizon.store(kNever);
    lane.owner.store(0);
  }
  return static_cast<std::size_t>(to - from);
}

void HistoryVerifier::apply(State& state, const Record& record) {
  switch (record.kind) {
    case RecordKind::begin:
      return begin(state, record);
    case RecordKind::end:
      return end(state, record);
    case RecordKind::fail:
      if (const auto write = take(state.open, record)) state.unsettled.push_back(*write);
      return checker_.fail_write(record.word, record.tag);
    case RecordKind::settle:
      return settle(state, record);
    case RecordKind::take_over:
      take_over(state, record);
      [[fallthrough]];
    case RecordKind::attached:
      state.attached = record.end;
      return state.fence.reset();
    case RecordKind::read:
      return checker_.read(record.word, record.tag, record.start, record.end);
  }
}

void HistoryVerifier::begin(State& state, const Record& record) {
  state.open.push_back({record.word, record.tag, record.start});
  checker_.begin_write(record.word, record.tag, record.start);
  if (!state.fence) return;
  checker_.settle_write(record.word, record.tag, std::max(*state.fence, record.start));
}

void HistoryVerifier::end(State& state, const Record& record) {
  take(state.open, record);
  if (state.fence && record.start > *state.fence) {
    return checker_.trespass(record.word, record.tag, *state.fence);
  }
  checker_.end_write(record.word, record.tag, record.end);
}

/// From the sessions of other processes that were there before it was asked for. Those that came at
/// the same time may have come after it.
void HistoryVerifier::take_over(const State& by, const Record& record) {
  for (State& state : states_) {
    if (state.owner == by.owner || state.attached >= record.start) continue;
    state.fence = record.end;
    for (const Write& write : state.open) checker_.settle_write(write.word, write.tag, record.end);
    for (const Write& write : state.unsettled) {
      checker_.settle_write(write.word, write.tag, record.end);
    }
    state.unsettled.clear();
  }
}

void HistoryVerifier::settle(State& state, const Record& record) {
  std::erase_if(state.unsettled, [&](const Write& write) {
    if (write.tag < record.tag) return false;
    checker_.settle_write(write.word, write.tag, record.end);
    return true;
  });
}

/// The writer has died: what it had in flight has happened, or not, or will.
void HistoryVerifier::fail_open(State& state) {
  for (const Write& write : state.open) checker_.fail_write(write.word, write.tag);
  state.unsettled.insert(state.unsettled.end(), state.open.begin(), state.open.end());
  state.open.clear();
}

void HistoryVerifier::watch_owner(unsigned index) {
  State& state = states_[index];
  const std::int64_t owner = history_.lane(index).owner.load();
  if (owner == state.owner) return;
  state.owner = owner;
  state.process.reset();
  if (owner == 0 || owner == getpid()) return;
  state.process.reset(static_cast<int>(syscall(SYS_pidfd_open, static_cast<pid_t>(owner), 0)));
}

bool HistoryVerifier::owner_has_died(const State& state) const {
  if (state.owner == 0 || state.owner == getpid()) return false;
  pollfd process{state.process.get(), POLLIN, 0};
  // Without a descriptor: it had gone before it could be watched.
  return state.process.get() < 0 || ::poll(&process, 1, 0) == 1;
}

}  // namespace rdmablk::faults
