#include "target/queue_drain.h"

#include <algorithm>
#include <utility>

#include "target/fencing.h"

namespace rdmablk::target {

void QueueDrain::add(std::unique_ptr<IoQueue> queue, std::function<void()> then) {
  if (!fencing().destroys_queue_pairs) {
    queue->abandon_owner();
    kept_.push_back(std::move(queue));
    return then();
  }
  IoQueue& closing = *queue;
  queues_.emplace(&closing, std::move(queue));
  closing.close([this, &closing, then = std::move(then)] {
    // The callback itself lives in the queue.
    const auto call = then;
    on_closed(&closing);
    call();
  });
}

void QueueDrain::on_closed(const IoQueue* queue) {
  queues_.erase(queue);
  std::list<Waiting> done;
  for (auto next = waiting_.begin(); next != waiting_.end();) {
    const auto waiting = next++;
    if (!has(waiting->attachments)) done.splice(done.end(), waiting_, waiting);
  }
  for (const Waiting& waiting : done) waiting.then();
}

bool QueueDrain::has(AttachmentRange attachments) const {
  return std::any_of(queues_.begin(), queues_.end(), [&](const auto& entry) {
    return attachments.contains(entry.first->attachment());
  });
}

Footprint QueueDrain::footprint() const noexcept {
  Footprint sum;
  for (const auto& [key, queue] : queues_) sum += queue->footprint();
  return sum;
}

void QueueDrain::when_gone(AttachmentRange attachments, std::function<void()> then) {
  if (!has(attachments)) return then();
  waiting_.push_back({attachments, std::move(then)});
}

void QueueDrain::when_fenced(AttachmentRange attachments, std::function<void()> then) {
  fencing().drains_files ? when_gone(attachments, std::move(then)) : then();
}

void QueueDrain::close_kept() {
  for (auto& queue : std::exchange(kept_, {})) {
    IoQueue& closing = *queue;
    queues_.emplace(&closing, std::move(queue));
    closing.close([this, &closing] { on_closed(&closing); });
  }
}

}  // namespace rdmablk::target
