#include "common/softverbs/verbs/timer_queue.h"

#include <sys/timerfd.h>

#include <cerrno>
#include <system_error>

namespace softverbs {

TimerQueue::TimerQueue() : fd_(timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK)) {
  if (!fd_) throw std::system_error(errno, std::generic_category(), "creating a timer");
}

void TimerQueue::schedule(uint32_t qpn, Clock::time_point when) {
  std::lock_guard lock(mutex_);
  const bool first = waiting_.empty() || when < waiting_.begin()->first;
  waiting_.emplace(when, qpn);
  if (first) set(when);
}

std::vector<uint32_t> TimerQueue::take_due() {
  std::lock_guard lock(mutex_);
  uint64_t expirations = 0;
  // Nothing to read means that the timer was set anew meanwhile, which is as good.
  [[maybe_unused]] const ssize_t ignored = read(fd_.get(), &expirations, sizeof expirations);
  const auto now = Clock::now();
  std::vector<uint32_t> due;
  while (!waiting_.empty() && waiting_.begin()->first <= now) {
    due.push_back(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
  }
  if (!waiting_.empty()) set(waiting_.begin()->first);
  return due;
}

void TimerQueue::set(Clock::time_point when) {
  // The steady clock is CLOCK_MONOTONIC. A time of zero would disarm the timer.
  const auto since = when.time_since_epoch();
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(since);
  const auto nanoseconds = std::chrono::duration_cast<std::chrono::nanoseconds>(since - seconds);
  itimerspec time{};
  time.it_value.tv_sec = seconds.count();
  time.it_value.tv_nsec = nanoseconds.count();
  timerfd_settime(fd_.get(), TFD_TIMER_ABSTIME, &time, nullptr);
}

}  // namespace softverbs
