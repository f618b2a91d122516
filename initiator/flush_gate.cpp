#include "initiator/flush_gate.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <utility>

#include "common/error.h"

namespace rdmablk::initiator {

bool FlushGate::is_under_way() const noexcept {
  const std::lock_guard lock(mutex_);
  return phase_ == Phase::under_way;
}

std::uint64_t FlushGate::begun() const noexcept {
  const std::lock_guard lock(mutex_);
  return begun_;
}

FlushGate::Member::Member(FlushGate& gate)
    : gate_(gate), event_(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC)) {
  if (!event_) throw SystemError("make an eventfd", errno);
  const std::lock_guard lock(gate_.mutex_);
  gate_.members_.push_back(this);
}

FlushGate::Member::~Member() {
  leave();
  const std::lock_guard lock(gate_.mutex_);
  std::erase(gate_.members_, this);
}

void FlushGate::Member::drain() noexcept {
  eventfd_t ignored = 0;
  ::eventfd_read(event_.get(), &ignored);
}

std::optional<std::uint64_t> FlushGate::Member::ask() noexcept {
  const std::lock_guard lock(gate_.mutex_);
  const std::uint64_t number = gate_.number_ + (gate_.phase_ == Phase::under_way ? 1 : 0);
  if (results_[number % 2]) return std::nullopt;
  wants_[number % 2] = true;
  if (gate_.phase_ == Phase::idle) {
    gate_.phase_ = Phase::chosen;
    gate_.leader_ = this;
  }
  return number;
}

bool FlushGate::Member::begin() noexcept {
  const std::lock_guard lock(gate_.mutex_);
  if (gate_.leader_ != this || gate_.phase_ != Phase::chosen) return false;
  gate_.phase_ = Phase::under_way;
  ++gate_.begun_;
  return true;
}

void FlushGate::Member::end(int error) noexcept {
  const std::lock_guard lock(gate_.mutex_);
  const std::size_t index = gate_.number_ % 2;
  for (Member* const member : gate_.members_) {
    if (!std::exchange(member->wants_[index], false)) continue;
    member->results_[index] = {gate_.number_, error};
    tell(*member);
  }
  ++gate_.number_;
  gate_.choose();
}

std::optional<FlushGate::Result> FlushGate::Member::take() noexcept {
  const std::lock_guard lock(gate_.mutex_);
  for (auto& result : results_) {
    if (result) return std::exchange(result, std::nullopt);
  }
  return std::nullopt;
}

void FlushGate::Member::leave() noexcept {
  const std::lock_guard lock(gate_.mutex_);
  wants_ = {};
  results_ = {};
  if (gate_.leader_ == this) gate_.choose();
}

/// Chooses who does the next flush, if anybody has asked for one.
void FlushGate::choose() noexcept {
  phase_ = Phase::idle;
  leader_ = nullptr;
  // The one after the next is wanted alone when whoever left the next to others had been alone.
  for (const std::uint64_t number : {number_, number_ + 1}) {
    for (Member* const member : members_) {
      if (!member->wants_[number % 2]) continue;
      phase_ = Phase::chosen;
      number_ = number;
      leader_ = member;
      return tell(*member);
    }
  }
}

void FlushGate::tell(Member& member) noexcept {
  member.news_.store(true);
  ::eventfd_write(member.event_.get(), 1);
}

}  // namespace rdmablk::initiator
