#include "target/queue_drain.h"

#include <utility>

namespace rdmablk::target {

void QueueDrain::add(std::unique_ptr<IoQueue> queue) {
  add(std::move(queue), [] {});
}

void QueueDrain::add(std::unique_ptr<IoQueue> queue, std::function<void()> then) {
  IoQueue& closing = *queue;
  queues_.emplace(&closing, std::move(queue));
  closing.close([this, &closing, then = std::move(then)] {
    // The callback itself lives in the queue.
    const auto call = then;
    queues_.erase(&closing);
    call();
  });
}

void QueueDrain::add_all(std::vector<std::unique_ptr<IoQueue>> queues, std::function<void()> then) {
  if (queues.empty()) return then();
  const auto left = std::make_shared<std::size_t>(queues.size());
  for (auto& queue : queues) {
    add(std::move(queue), [left, then] {
      if (--*left == 0) then();
    });
  }
}

}  // namespace rdmablk::target
