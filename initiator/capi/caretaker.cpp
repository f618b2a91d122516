#include "initiator/capi/caretaker.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "common/signals.h"

namespace rdmablk::capi {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// What a queue takes up is a matter of some round trips. Where it takes longer, since the target
/// does not answer, the connection is lost in the end, and that is another call.
constexpr std::chrono::seconds kTime{5};
constexpr milliseconds kShortestPause{1};
constexpr milliseconds kLongestPause{50};

}  // namespace

Caretaker::Caretaker(std::function<void()> care) : care_(std::move(care)) {
  const SignalsBlocked blocked;  // signals are for the program's own threads
  thread_ = std::jthread([this](const std::stop_token& stop) { work(stop); });
}

void Caretaker::call() noexcept {
  {
    const std::lock_guard lock(mutex_);
    is_called_ = true;
  }
  called_.notify_one();
}

void Caretaker::work(const std::stop_token& stop) {
  const auto is_called = [this] { return is_called_; };
  std::unique_lock lock(mutex_);
  while (called_.wait(lock, stop, is_called)) {
    auto end = Clock::now() + kTime;
    for (auto pause = kShortestPause; Clock::now() < end;
         pause = std::min(2 * pause, kLongestPause)) {
      if (std::exchange(is_called_, false)) {
        end = Clock::now() + kTime;
        pause = kShortestPause;
      }
      lock.unlock();
      care_();
      lock.lock();
      called_.wait_for(lock, stop, pause, is_called);
      if (stop.stop_requested()) return;
    }
  }
}

}  // namespace rdmablk::capi
