#include "event_waiter.h"

#include <poll.h>

#include <chrono>
#include <vector>

#include "common/error.h"

namespace rdmablk::testing {
namespace {

constexpr std::chrono::seconds kPatience{20};

}  // namespace

EventWaiter::EventWaiter() : manager_(cm::make_rdmacm()) {
  add(manager_->fd(), [this] { manager_->process(); });
}

void EventWaiter::add(int fd, std::function<void()> ready) {
  ready_[fd] = std::move(ready);
}

void EventWaiter::remove(int fd) {
  ready_.erase(fd);
}

void EventWaiter::until(const std::string& what, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  while (!condition()) {
    std::vector<pollfd> descriptors;
    for (const auto& [fd, ready] : ready_) descriptors.push_back({fd, POLLIN, 0});
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        deadline - std::chrono::steady_clock::now());
    if (left.count() <= 0 ||
        ::poll(descriptors.data(), descriptors.size(), static_cast<int>(left.count())) == 0) {
      throw Error("waited in vain for: " + what);
    }
    for (const pollfd& descriptor : descriptors) {
      const auto found = ready_.find(descriptor.fd);
      if (descriptor.revents != 0 && found != ready_.end()) found->second();
    }
  }
}

}  // namespace rdmablk::testing
