#include "target/one_sided_queue.h"

#include <array>
#include <utility>

namespace rdmablk::target {
namespace {

/// One send and one receive work request, the least that every device takes.
constexpr unsigned kEntries = 2;

}  // namespace

OneSidedQueue::OneSidedQueue(std::unique_ptr<cm::Connection>& connection,
                             const Attachment& attachment, std::uint16_t number, QueueGround ground,
                             Counters& counters, IoQueueOwner& owner)
    : IoQueue(attachment, number, std::move(ground), owner),
      counters_(counters),
      cq_(connection->device(), kEntries, nullptr) {
  connection->create_queue_pair(*grant().pd, cq_, {});
  connection_ = std::move(connection);
}

OneSidedQueue::~OneSidedQueue() {
  connection_->disconnect();
  std::array<ibv_wc, kEntries> completions;
  counters_.io_queue_completions += cq_.poll(completions);
}

void OneSidedQueue::accept() {
  connection_->accept(*this);
  ++counters_.io_queues;
}

void OneSidedQueue::begin_close() {
  connection_->disconnect();
  connection_->destroy_queue_pair();
  closed();
}

}  // namespace rdmablk::target
