#include "common/softverbs/cm/progress_thread.h"

#include <pthread.h>
#include <sys/eventfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <thread>

namespace softverbs::cm {
namespace {

constexpr ProgressThread::Token kWakeup = 0;

[[noreturn]] void throw_errno(const char* what) {
  throw std::system_error(errno, std::generic_category(), what);
}

class SignalsBlocked {
 public:
  SignalsBlocked() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsBlocked() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsBlocked(const SignalsBlocked&) = delete;
  SignalsBlocked& operator=(const SignalsBlocked&) = delete;

 private:
  sigset_t before_{};
};

}  // namespace

ProgressThread::ProgressThread(std::mutex& mutex)
    : mutex_(mutex),
      epoll_(::epoll_create1(EPOLL_CLOEXEC)),
      wakeup_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!epoll_ || !wakeup_) throw_errno("connection manager");
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.u64 = kWakeup;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, wakeup_.get(), &interest) != 0) {
    throw_errno("connection manager");
  }
  const SignalsBlocked blocked;
  std::thread([this] { run(); }).detach();
}

ProgressThread::Token ProgressThread::watch(int fd, Callback callback) {
  const Token token = next_token_++;
  epoll_event interest{};
  interest.events = EPOLLIN;
  interest.data.u64 = token;
  if (::epoll_ctl(epoll_.get(), EPOLL_CTL_ADD, fd, &interest) != 0) throw_errno("connection");
  watches_.emplace(token, std::move(callback));
  return token;
}

void ProgressThread::unwatch(Token& token, int fd) {
  if (token == 0) return;
  watches_.erase(token);
  token = 0;
  ::epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, fd, nullptr);
}

void ProgressThread::defer(Callback callback) {
  deferred_.push_back(std::move(callback));
  wake();
}

ProgressThread::Token ProgressThread::arm(Clock::duration delay, Callback callback) {
  const Token token = next_token_++;
  const Clock::time_point deadline = Clock::now() + delay;
  timers_.emplace(std::pair(deadline, token), std::move(callback));
  deadlines_.emplace(token, deadline);
  wake();
  return token;
}

void ProgressThread::disarm(Token& token) {
  const auto found = deadlines_.find(token);
  token = 0;
  if (found == deadlines_.end()) return;
  timers_.erase({found->second, found->first});
  deadlines_.erase(found);
}

void ProgressThread::wake() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(wakeup_.get(), &one, sizeof(one));
}

int ProgressThread::timeout() const {
  if (!deferred_.empty()) return 0;
  if (timers_.empty()) return -1;
  const auto left = timers_.begin()->first.first - Clock::now();
  const auto rounded = std::chrono::ceil<std::chrono::milliseconds>(left).count();
  return static_cast<int>(std::clamp<int64_t>(rounded, 0, 60'000));
}

void ProgressThread::run() {
  pthread_setname_np(pthread_self(), "softverbs-cm");
  std::array<epoll_event, 64> ready{};
  std::unique_lock lock(mutex_);
  for (;;) {
    const int wait = timeout();
    lock.unlock();
    const int count =
        ::epoll_wait(epoll_.get(), ready.data(), static_cast<int>(ready.size()), wait);
    lock.lock();
    for (int index = 0; index < count; ++index) {
      run_watch(ready[static_cast<size_t>(index)].data.u64);
    }
    run_deferred();
    run_timers();
  }
}

void ProgressThread::run_watch(Token token) {
  if (token == kWakeup) {
    uint64_t ignored = 0;
    [[maybe_unused]] const ssize_t got = ::read(wakeup_.get(), &ignored, sizeof(ignored));
    return;
  }
  const auto found = watches_.find(token);
  if (found == watches_.end()) return;  // ended by an earlier callback of this round
  const Callback callback = found->second;
  callback();
}

void ProgressThread::run_deferred() {
  std::vector<Callback> work;
  work.swap(deferred_);
  for (const Callback& callback : work) callback();
}

void ProgressThread::run_timers() {
  const Clock::time_point now = Clock::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    const auto first = timers_.begin();
    const Callback callback = std::move(first->second);
    deadlines_.erase(first->first.second);
    timers_.erase(first);
    callback();
  }
}

}  // namespace softverbs::cm
