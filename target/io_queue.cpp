#include "target/io_queue.h"

#include <fmt/format.h>

#include <utility>

#include "common/verbs/context.h"
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

/// Why a peer is gone. A device puts a queue pair in error by itself when its peer asks for what it
/// may not have; that of one who disconnects is still ready. Soft-iWARP does not tell them apart.
std::string IoQueue::describe_loss(const cm::Connection& connection, const cm::Event& event) {
  if (!event.in_error || verbs::is_iwarp(connection.device())) return "disconnected";
  owner_->on_queue_in_error(
      fmt::format("{}: {} put its I/O queue in error: it reached for memory that it may not have, "
                  "or it was gone when it was sent something",
                  connection.peer(), verbs::device_name(connection.device())));
  return "its device put it in error";
}

void IoQueue::on_event(cm::Connection& connection, const cm::Event& event) {
  switch (event.type) {
    case cm::EventType::disconnected:
      if (owner_ == nullptr) return;  // this end began it
      return tell_over(describe_loss(connection, event));
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
