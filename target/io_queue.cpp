#include "target/io_queue.h"

#include <array>

namespace rdmablk::target {
namespace {

/// One send and one receive work request, the least that every device takes.
constexpr unsigned kEntries = 2;

}  // namespace

IoQueue::IoQueue(std::unique_ptr<cm::Connection>& connection, const Attachment& attachment,
                 std::uint16_t number, Counters& counters, IoQueueOwner& owner)
    : attachment_(attachment.id()),
      number_(number),
      counters_(counters),
      owner_(owner),
      cq_(connection->device(), kEntries, nullptr) {
  connection->create_queue_pair(*attachment.grant().pd, cq_, {});
  connection_ = std::move(connection);
}

IoQueue::~IoQueue() {
  connection_->disconnect();
  count_completions();
}

void IoQueue::accept() {
  connection_->accept(*this);
  ++counters_.io_queues;
}

void IoQueue::count_completions() noexcept {
  std::array<ibv_wc, kEntries> completions;
  counters_.io_queue_completions += cq_.poll(completions);
}

void IoQueue::on_event(cm::Connection& /*connection*/, const cm::Event& event) {
  switch (event.type) {
    case cm::EventType::disconnected:
      return owner_.on_queue_over(*this, "disconnected");
    case cm::EventType::device_removed:
      return owner_.on_queue_over(*this, "its device was removed");
    case cm::EventType::failed:
    case cm::EventType::rejected:
      return owner_.on_queue_over(*this, "its connection was not completed");
    case cm::EventType::resolved:
    case cm::EventType::established:
      return;
  }
}

}  // namespace rdmablk::target
