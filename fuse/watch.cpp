#include "fuse/watch.h"

#include <sys/eventfd.h>

#include <bit>
#include <cerrno>

#include "common/error.h"

namespace rdmablk::fuse {

// Sequentially consistent throughout: a worker that rests sets its bit and then looks for a watch,
// one that leaves clears the watch and then looks for bits; one of the two sees the other.

Watch::Watch(unsigned workers) {
  for (unsigned i = 0; i < workers; ++i) {
    calls_.emplace_back(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    if (!calls_.back()) throw SystemError("make an eventfd", errno);
  }
}

bool Watch::take(unsigned worker) noexcept {
  int holder = kNobody;
  const auto self = static_cast<int>(worker);
  return on_watch_.compare_exchange_strong(holder, self) || holder == self;
}

void Watch::leave(unsigned worker) noexcept {
  int holder = static_cast<int>(worker);
  if (on_watch_.compare_exchange_strong(holder, kNobody)) call();
}

void Watch::call() noexcept {
  while (const std::uint64_t resting = resting_.load()) {
    const auto worker = static_cast<unsigned>(std::countr_zero(resting));
    if ((resting_.fetch_and(~bit(worker)) & bit(worker)) == 0) continue;  // somebody else did
    ::eventfd_write(calls_[worker].get(), 1);
    return;
  }
}

bool Watch::rest(unsigned worker) noexcept {
  resting_.fetch_or(bit(worker));
  if (on_watch_.load() != kNobody) return true;
  rise(worker);
  return false;
}

void Watch::rise(unsigned worker) noexcept {
  if ((resting_.fetch_and(~bit(worker)) & bit(worker)) != 0) return;
  eventfd_t calls = 0;  // it was called; if the write is still to come, one rest ends too early
  ::eventfd_read(calls_[worker].get(), &calls);
}

}  // namespace rdmablk::fuse
