#include "target/io_queue.h"

#include <utility>

namespace rdmablk::target {

void IoQueue::close(std::function<void()> closed) {
  closed_ = std::move(closed);
  begin_close();
}

void IoQueue::tell_over(const std::string& reason) {
  if (!closed_) owner_.on_queue_over(*this, reason);
}

void IoQueue::tell_violation(const std::string& reason) {
  if (!closed_) owner_.on_queue_violation(*this, reason);
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
    case cm::EventType::resolved:
    case cm::EventType::established:
      return;
  }
}

}  // namespace rdmablk::target
