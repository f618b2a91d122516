#include "target/session_events.h"

#include <algorithm>
#include <utility>

namespace rdmablk::target {

void SessionEvents::add(std::uint64_t attachment) {
  if (std::find(waiting_.begin(), waiting_.end(), attachment) != waiting_.end()) return;
  waiting_.push_back(attachment);
}

std::optional<SessionEvents::Event> SessionEvents::next() {
  if (unacknowledged_ || waiting_.empty()) return std::nullopt;
  unacknowledged_ = Event{++last_tag_, waiting_.front()};
  waiting_.pop_front();
  return unacknowledged_;
}

std::optional<SessionEvents::Event> SessionEvents::acknowledge(std::uint64_t tag) {
  if (!unacknowledged_ || unacknowledged_->tag != tag) return std::nullopt;
  return std::exchange(unacknowledged_, std::nullopt);
}

}  // namespace rdmablk::target
