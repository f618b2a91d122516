#include "common/softverbs/cm/event_channel.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <cerrno>
#include <system_error>

#include "common/softverbs/cm/id.h"

namespace softverbs::cm {

EventChannel::EventChannel() : rdma_event_channel{}, descriptor_(::eventfd(0, EFD_CLOEXEC)) {
  if (!descriptor_) throw std::system_error(errno, std::generic_category(), "event channel");
  fd = descriptor_.get();
}

void EventChannel::push(std::unique_ptr<Event> event) {
  queue_.push_back(std::move(event));
  if (queue_.size() == 1) mark_readable();
}

std::unique_ptr<Event> EventChannel::pop() {
  if (queue_.empty()) return nullptr;
  std::unique_ptr<Event> event = std::move(queue_.front());
  queue_.pop_front();
  if (queue_.empty()) mark_empty();
  return event;
}

std::deque<std::unique_ptr<Event>> EventChannel::take(const Id& owner) {
  std::deque<std::unique_ptr<Event>> taken;
  std::deque<std::unique_ptr<Event>> kept;
  for (auto& event : queue_) (event->owner == &owner ? taken : kept).push_back(std::move(event));
  queue_.swap(kept);
  if (queue_.empty() && !taken.empty()) mark_empty();
  return taken;
}

int EventChannel::wait() const {
  const int flags = ::fcntl(fd, F_GETFL);
  if (flags < 0) return errno;
  if ((flags & O_NONBLOCK) != 0) return EAGAIN;
  pollfd waiting{fd, POLLIN, 0};
  return ::poll(&waiting, 1, -1) < 0 ? errno : 0;
}

void EventChannel::abandon() {
  abandoned_ = true;
  descriptor_.reset();
}

void EventChannel::mark_readable() const {
  const uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd, &one, sizeof(one));
}

// The counter is 1 here, so this never blocks.
void EventChannel::mark_empty() const {
  uint64_t ignored = 0;
  [[maybe_unused]] const ssize_t got = ::read(fd, &ignored, sizeof(ignored));
}

}  // namespace softverbs::cm
