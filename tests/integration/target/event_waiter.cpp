#include "event_waiter.h"

#include <chrono>
#include <utility>

#include "common/cm/setting_options.h"
#include "common/error.h"

namespace rdmablk::testing {
namespace {

constexpr std::chrono::seconds kPatience{20};

}  // namespace

EventWaiter::EventWaiter() : manager_(cm::make_manager(cm::default_method(), io_)) {}

void EventWaiter::add(int fd, std::function<void()> ready) {
  ready_[fd] = std::move(ready);
  watches_.try_emplace(fd, io_, fd, [this, fd] { due_.push_back(fd); });
}

void EventWaiter::remove(int fd) {
  watches_.erase(fd);
  ready_.erase(fd);
}

void EventWaiter::until(const std::string& what, const std::function<bool()>& condition) {
  const auto deadline = std::chrono::steady_clock::now() + kPatience;
  io_.restart();
  while (!condition()) {
    if (io_.run_one_until(deadline) == 0) throw Error("waited in vain for: " + what);
    // Not from within their watches, which they may remove.
    for (const int fd : std::exchange(due_, {})) {
      const auto found = ready_.find(fd);
      if (found != ready_.end()) found->second();
    }
  }
}

}  // namespace rdmablk::testing
