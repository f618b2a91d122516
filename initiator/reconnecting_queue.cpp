#include "initiator/reconnecting_queue.h"

#include <sys/epoll.h>

#include <array>
#include <cerrno>
#include <utility>

#include "common/error.h"

namespace rdmablk::initiator {

ReconnectingQueue::ReconnectingQueue(HandOver& hand_over, std::unique_ptr<ConnectedQueue> connected,
                                     Options options, std::function<void()> on_destroyed)
    : hand_over_(hand_over),
      options_(options),
      on_destroyed_(std::move(on_destroyed)),
      wait_set_(::epoll_create1(EPOLL_CLOEXEC)),
      connected_(std::move(connected)) {
  if (!wait_set_) throw SystemError("make an epoll descriptor", errno);
  watch(hand_over_.fd());
  watch(connected_->fd());
  path_ = connected_->way().count.get();
}

ReconnectingQueue::~ReconnectingQueue() {
  if (on_destroyed_) on_destroyed_();
}

void ReconnectingQueue::watch(int fd) {
  epoll_event event{};
  event.events = EPOLLIN;
  if (::epoll_ctl(wait_set_.get(), EPOLL_CTL_ADD, fd, &event) != 0) {
    throw SystemError("wait for an I/O queue", errno);
  }
}

void ReconnectingQueue::submit(Request& request) noexcept {
  request.error = 0;
  request.progress = {};
  if (options_.read_only && changes_data(request)) [[unlikely]] {
    request.error = EROFS;
    done_.push(request);
  } else if (connected_ != nullptr && !is_leaving_) [[likely]] {
    pass_on(request);
  } else {
    waiting_.push(request);
  }
}

void ReconnectingQueue::pass_on(Request& request) noexcept {
  if (path_ != nullptr) path_->begin();
  connected_->submit(request);
}

void ReconnectingQueue::count(std::span<Request* const> ended) noexcept {
  if (path_ == nullptr) return;
  for (const Request* const request : ended) path_->end(*request);
}

void ReconnectingQueue::arm() noexcept {
  hand_over_.drain();
  if (connected_ != nullptr) connected_->arm();
}

std::size_t ReconnectingQueue::poll(std::span<Request*> done) noexcept {
  std::size_t count = 0;
  if (hand_over_.has_resize()) [[unlikely]]
    take_resize();
  if (hand_over_.is_to_leave()) [[unlikely]]
    is_leaving_ = connected_ != nullptr;
  if (connected_ != nullptr) [[likely]] {
    count = connected_->poll(done);
    if (is_resizing_) [[unlikely]]
      give_back_resize();
    if (!connected_->is_down()) [[likely]] {
      this->count(done.first(count));
      if (is_leaving_) [[unlikely]]
        leave();
      if (connected_ != nullptr && done_.empty()) [[likely]]
        return count;
    }
  }
  return recover(done, count);
}

/// Gives up a connection that works, if nothing is under way on it.
void ReconnectingQueue::leave() noexcept {
  if (!is_resizing_ && connected_->is_idle()) disconnect(0);
}

/// Without a connection there is nothing that uses the old size. One that waits to be taken may.
void ReconnectingQueue::take_resize() noexcept {
  auto resize = hand_over_.take_resize();
  if (resize == nullptr) return;
  if (connected_ == nullptr && !take_next()) return hand_over_.give_back_resize(std::move(resize));
  // Whoever polls now may sleep next, and has not armed it for what this posts.
  connected_->arm();
  is_resizing_ = true;
  connected_->resize(std::move(resize));
}

void ReconnectingQueue::give_back_resize() noexcept {
  if (connected_->is_down()) return;
  auto resize = connected_->take_resized();
  if (resize == nullptr) return;
  is_resizing_ = false;
  hand_over_.give_back_resize(std::move(resize));
}

/// All but the usual case. @param count requests that poll() has already got.
std::size_t ReconnectingQueue::recover(std::span<Request*> done, std::size_t count) noexcept {
  do {
    if (connected_ != nullptr && connected_->is_down()) count = give_up(done, count);
    // The next one may be down as soon as it is looked at.
    if (connected_ == nullptr && take_next()) {
      const std::size_t more = connected_->poll(done.subspan(count));
      if (!connected_->is_down()) this->count(done.subspan(count, more));
      count += more;
    }
  } while (connected_ != nullptr && connected_->is_down());
  if (connected_ == nullptr && hand_over_.service() != Service::waiting) fail_waiting();
  while (count < done.size() && !done_.empty()) done[count++] = &done_.pop();
  return count;
}

/// Takes from a connection that is down what it had, and gives it up.
/// @return how many requests `done` holds then.
std::size_t ReconnectingQueue::give_up(std::span<Request*> done, std::size_t count) noexcept {
  is_resizing_ = false;
  std::uint64_t undone = keep(done.first(count), done_);
  std::array<Request*, 64> more;
  while (const std::size_t got = connected_->poll(more)) {
    undone += keep(std::span(more).first(got), done_);
  }
  disconnect(undone);
  return 0;
}

void ReconnectingQueue::disconnect(std::uint64_t undone) noexcept {
  ::epoll_ctl(wait_set_.get(), EPOLL_CTL_DEL, connected_->fd(), nullptr);
  if (path_ != nullptr) path_->give_up();
  path_ = nullptr;
  is_leaving_ = false;
  hand_over_.give_up(std::move(connected_), undone);
}

/// Keeps the requests that a connection returned as it went down: only what the target refused has
/// ended. What succeeded was not acknowledged yet, and is done once more: by now the control thread
/// may have decided that nothing acknowledged was lost with the target.
/// @return how many are to be done.
std::uint64_t ReconnectingQueue::keep(std::span<Request* const> ended,
                                      RequestList& settled) noexcept {
  std::uint64_t undone = 0;
  for (Request* const request : ended) {
    if (request->error == 0 || request->error == kUndone) {
      (changes_data(*request) ? begun_ : waiting_).push(*request);
      ++undone;
    } else {
      settled.push(*request);
    }
  }
  return undone;
}

/// Takes the next connection, if there is one, and hands it all that waits.
bool ReconnectingQueue::take_next() noexcept {
  hand_over_.drain();
  if (hand_over_.service() == Service::lost) return false;
  connected_ = hand_over_.take();
  if (connected_ == nullptr) return false;
  epoll_event event{};
  event.events = EPOLLIN;
  ::epoll_ctl(wait_set_.get(), EPOLL_CTL_ADD, connected_->fd(), &event);
  // Whoever polls now may sleep next, and has armed nothing of this one.
  connected_->arm();
  path_ = connected_->way().count.get();
  is_leaving_ = false;
  while (!begun_.empty()) pass_on(begun_.pop());
  while (!waiting_.empty()) pass_on(waiting_.pop());
  connected_->kick();
  return true;
}

void ReconnectingQueue::fail_waiting() noexcept {
  if (hand_over_.is_fenced()) fail(begun_);
  fail(waiting_);
}

void ReconnectingQueue::fail(RequestList& list) noexcept {
  while (!list.empty()) {
    Request& request = list.pop();
    request.error = EIO;
    done_.push(request);
  }
}

}  // namespace rdmablk::initiator
