#include "initiator/capi/queue.h"

#include <poll.h>
#include <sys/epoll.h>
#include <sys/timerfd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <limits>
#include <thread>

#include "common/error.h"
#include "initiator/capi/failure.h"
#include "initiator/image_range.h"

namespace rdmablk::capi {
namespace {

using initiator::Operation;
using Time = std::chrono::steady_clock::time_point;

constexpr std::size_t kPieces = 4;

void watch(int wait_set, int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(wait_set, EPOLL_CTL_ADD, fd, &event) != 0) {
    throw SystemError("wait for a queue", errno);
  }
}

/// Whether it changes the image, by what it is rather than by what there is of it.
bool is_change(Operation operation) noexcept {
  return operation == Operation::write || operation == Operation::zero ||
         operation == Operation::discard;
}

}  // namespace

RequestQueue::RequestQueue(const rdmablk_image& owner, initiator::Image& image, UseCounters& use,
                           unsigned depth)
    : owner_(owner),
      use_(use),
      image_(image),
      read_only_(image.info().read_only),
      slots_(depth + kPieces),
      requests_(std::span(slots_).first(depth)),
      pieces_(std::span(slots_).subspan(depth)),
      queue_(image.make_queue(depth)),
      timer_(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)),
      wait_set_(::epoll_create1(EPOLL_CLOEXEC)) {
  if (!timer_) throw SystemError("make a timer", errno);
  if (!wait_set_) throw SystemError("make an epoll descriptor", errno);
  capi::watch(wait_set_.get(), queue_->fd());
  capi::watch(wait_set_.get(), timer_.get());
  capi::watch(wait_set_.get(), shown_.fd());
  for (Slot& slot : requests_) idle_.push(slot);
  for (Slot& slot : pieces_) slot.is_piece = true;
}

bool RequestQueue::enter() noexcept {
  User before = User::nobody;
  while (!user_.compare_exchange_weak(before, User::program, std::memory_order_acquire)) {
    if (before == User::program) return false;
    before = User::nobody;
    std::this_thread::yield();  // it will not be long
  }
  return true;
}

void RequestQueue::care() noexcept {
  User before = User::nobody;
  if (!user_.compare_exchange_strong(before, User::caretaker, std::memory_order_acquire)) return;
  collect();
  show();
  leave();
}

/// @param allowed of the flags. @return what a call is to return; 0: it may go on.
int RequestQueue::check(const Wish& wish, unsigned allowed) const noexcept {
  if (is_change(wish.operation)) allowed |= RDMABLK_DURABLE;
  if ((wish.flags & ~allowed) != 0) return fail(EINVAL, "these flags are not for this request");
  if (wish.operation == Operation::flush) return 0;
  const std::uint64_t size = image_.size();
  const bool is_within = wish.length <= size && wish.offset <= size - wish.length;
  if (!is_change(wish.operation)) {
    return is_within ? 0 : fail(EINVAL, "the range to be read ends behind the image's end");
  }
  if (read_only_) return fail(EROFS, "the image is read-only");
  return is_within ? 0 : fail(ENOSPC, "the range to be changed ends behind the image's end");
}

std::int64_t RequestQueue::submit(const Wish& wish, rdmablk_memory* memory, void* user) noexcept {
  if (const int result = check(wish, RDMABLK_MORE)) return result;
  if (wish.operation != Operation::flush && wish.length == 0) {
    return fail(EINVAL, "a request is for one byte at least");
  }
  if (wish.has_data()) {
    if (memory == nullptr) return fail(EINVAL, "the memory is NULL");
    if (&memory->image() != &owner_) return fail(EINVAL, "the memory is another image's");
    if (!memory->holds(wish.data, wish.length)) {
      return fail(EINVAL, "the data does not lie within the memory");
    }
  }
  if (idle_.empty()) return fail(EAGAIN, "the queue takes no more requests: reap some first");
  auto& slot = static_cast<Slot&>(idle_.pop());
  slot.memory = memory;
  slot.user = user;
  slot.keys = memory == nullptr ? nullptr : &memory->keys();
  if (memory != nullptr) memory->begin_use();
  const auto index = static_cast<std::int64_t>(&slot - slots_.data());
  slot.number = ++round_ * static_cast<std::int64_t>(RDMABLK_MAX_DEPTH) + index;
  ++pending_;
  start(slot, wish, deadline_from_now());
  if ((wish.flags & RDMABLK_MORE) == 0) kick();
  return slot.number;
}

void RequestQueue::start(Slot& slot, const Wish& wish, Time deadline) noexcept {
  slot.operation = wish.operation;
  slot.offset = wish.offset;
  slot.length = wish.length;
  slot.data = wish.data;
  slot.durable = (wish.flags & RDMABLK_DURABLE) != 0;
  slot.given_up = 0;
  slot.state = Slot::State::under_way;
  slot.deadline = deadline;
  expect(deadline);
  queue_->submit(slot);
  has_more_ = true;
}

void RequestQueue::kick() noexcept {
  has_more_ = false;
  queue_->kick();
  if (!is_watched_) return;
  // What has ended at once is announced by nothing else.
  collect();
  show();
}

/// Takes what the queue has to give, and what need not wait any longer.
void RequestQueue::collect() noexcept {
  if (has_more_) {
    has_more_ = false;
    queue_->kick();
  }
  std::array<initiator::Request*, 64> done{};
  while (const std::size_t count = queue_->poll(done)) {
    for (initiator::Request* const request : std::span(done).first(count)) {
      end(static_cast<Slot&>(*request), request->error);
    }
  }
  if (next_time_ != Time::max()) note_time();
  if (given_up_ > 0) let_go();
}

void RequestQueue::end(Slot& slot, int error) noexcept {
  if (slot.given_up != 0) --given_up_;
  slot.given_up = 0;
  slot.error = error;
  slot.state = Slot::State::ended;
  use_.count(slot);
  if (!slot.is_piece) ended_.push(slot);
}

/// Takes back what is given up, as far as it waits for a connection.
void RequestQueue::let_go() noexcept {
  for (Slot& slot : slots_) {
    if (slot.given_up != 0 && queue_->cancel(slot)) end(slot, slot.given_up);
  }
}

int RequestQueue::cancel(std::int64_t request) noexcept {
  const auto index = static_cast<std::size_t>(
      request < 0 ? RDMABLK_MAX_DEPTH : request % static_cast<std::int64_t>(RDMABLK_MAX_DEPTH));
  if (index < requests_.size() && requests_[index].number == request) {
    collect();
    Slot& slot = requests_[index];
    if (slot.state == Slot::State::under_way) {
      if (slot.given_up == 0) ++given_up_;
      slot.given_up = ECANCELED;
      let_go();
      show();
      if (slot.state == Slot::State::ended) return 0;
      return fail(EBUSY, "the device works on the request");
    }
    show();
  }
  return fail(ENOENT, "no such request is under way");
}

/// Hands out completions. @return how many.
std::size_t RequestQueue::take(std::span<rdmablk_completion> completions) noexcept {
  std::size_t count = 0;
  while (count < completions.size() && !ended_.empty()) {
    auto& slot = static_cast<Slot&>(ended_.pop());
    completions[count++] = {slot.user, slot.number, -slot.error, 0};
    if (slot.memory != nullptr) slot.memory->end_use();
    slot.state = Slot::State::idle;
    idle_.push(slot);
    --pending_;
  }
  return count;
}

/// Arms as often as the program may go to sleep next: what ends from here on is announced, or has
/// been collected and is shown.
int RequestQueue::reap(std::span<rdmablk_completion> completions) noexcept {
  collect();
  std::size_t count = take(completions);
  if (is_watched_) {
    queue_->arm();
    collect();
    count += take(completions.subspan(count));
    show();
  }
  return static_cast<int>(count);
}

int RequestQueue::wait(std::span<rdmablk_completion> completions, Time until) noexcept {
  int result = reap(completions);
  while (result == 0 && pending_ > 0) {
    queue_->arm();
    result = reap(completions);
    if (result != 0) break;
    if (const int error = sleep(until)) {
      return error == ETIMEDOUT ? 0 : fail(error, "a signal came while waiting for requests");
    }
    result = reap(completions);
  }
  if (result == 0) return fail(ENOENT, "no request is under way");
  return result;
}

/// Waits until the queue has something to tell, or time has come. @return 0; ETIMEDOUT, when it
/// comes to `until` only; EINTR.
int RequestQueue::sleep(Time until) noexcept {
  timespec left{};
  if (until != Time::max()) {
    const auto time = until - Clock::now();
    if (time <= Clock::duration::zero()) return ETIMEDOUT;
    const auto seconds = std::chrono::floor<std::chrono::seconds>(time);
    left.tv_sec = seconds.count();
    left.tv_nsec = std::chrono::nanoseconds(time - seconds).count();
  }
  pollfd source{wait_set_.get(), POLLIN, 0};
  const int ready = ::ppoll(&source, 1, until == Time::max() ? nullptr : &left, nullptr);
  return ready < 0 ? errno : 0;
}

int RequestQueue::watch() noexcept {
  if (!is_watched_) {
    is_watched_ = true;
    queue_->arm();
    collect();
    show();
  }
  return wait_set_.get();
}

/// Has the descriptor tell of what is in ended_, if the program has it.
void RequestQueue::show() noexcept {
  const bool shows = is_watched_ && !ended_.empty();
  if (shows == is_shown_) return;
  is_shown_ = shows;
  if (shows) {
    shown_.signal();
  } else {
    shown_.take();
  }
}

Time RequestQueue::deadline_from_now() const noexcept {
  return timeout_ == Clock::duration::max() ? Time::max() : Clock::now() + timeout_;
}

/// Has the timer tell of a time, unless it is set to an earlier one: most of them are over before
/// it comes.
void RequestQueue::expect(Time deadline) noexcept {
  if (deadline >= next_time_) return;
  next_time_ = deadline;
  itimerspec at{};
  const auto seconds = std::chrono::floor<std::chrono::seconds>(deadline.time_since_epoch());
  at.it_value.tv_sec = seconds.count();
  at.it_value.tv_nsec = std::chrono::nanoseconds(deadline.time_since_epoch() - seconds).count();
  ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &at, nullptr);
}

/// Gives up the requests whose time has come.
void RequestQueue::note_time() noexcept {
  const Time now = Clock::now();
  if (now < next_time_) return;
  std::uint64_t ignored = 0;
  [[maybe_unused]] const auto read = ::read(timer_.get(), &ignored, sizeof ignored);
  next_time_ = Time::max();
  Time next = Time::max();
  for (Slot& slot : slots_) {
    if (slot.state != Slot::State::under_way || slot.given_up != 0) continue;
    if (slot.deadline > now) {
      next = std::min(next, slot.deadline);
    } else {
      slot.given_up = ETIMEDOUT;
      ++given_up_;
    }
  }
  expect(next);
}

}  // namespace rdmablk::capi
