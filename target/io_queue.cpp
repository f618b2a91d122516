#include "target/io_queue.h"

#include <utility>

#include "target/fencing.h"

namespace rdmablk::target {

void IoQueue::close(std::function<void()> closed) {
  owner_ = nullptr;
  closed_ = std::move(closed);
  if (!fencing().drains_files) lease_.reset();
  begin_close();
}

void IoQueue::abandon_owner() {
  owner_ = nullptr;
  lease_.reset();
}

void IoQueue::tell_over(const std::string& reason) {
  if (owner_ != nullptr) owner_->on_queue_over(*this, reason);
}

void IoQueue::tell_violation(const std::string& reason) {
  if (owner_ != nullptr) owner_->on_queue_violation(*this, reason);
}

void IoQueue::on_event(cm::Connection& /*connection*/, const cm::Event& event) {
  switch (event.type) {
    case cm::EventType::disconnected:
      return tell_over("disconnected");
    case cm::EventType::device_removed:
      return tell_over("its device was removed");
    case cm::EventType::failed:
    case cm::EventType::rejected:
      return tell_over("its connection was not completed");
    case cm::EventType::established:
      established_ = true;
      return;
    case cm::EventType::resolved:
      return;
  }
}

}  // namespace rdmablk::target
