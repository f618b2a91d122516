#pragma once

#include <functional>
#include <map>
#include <memory>
#include <vector>

#include "common/lifetime.h"
#include "target/io_queue.h"

namespace rdmablk::target {

/// Where I/O queues go to end: each is kept until what it has begun is through. Used by the control
/// thread, from its event loop.
class QueueDrain {
 public:
  QueueDrain() = default;
  QueueDrain(const QueueDrain&) = delete;
  QueueDrain& operator=(const QueueDrain&) = delete;

  /// Closes a queue, and destroys it when it is through.
  void add(std::unique_ptr<IoQueue> queue);

  /// @param then called when it is destroyed, maybe from within.
  void add(std::unique_ptr<IoQueue> queue, std::function<void()> then);

  /// Closes several. @param then called when all are destroyed; from within when there is none.
  void add_all(std::vector<std::unique_ptr<IoQueue>> queues, std::function<void()> then);

  bool empty() const noexcept { return queues_.empty(); }
  std::size_t size() const noexcept { return queues_.size(); }

 private:
  std::map<const IoQueue*, std::unique_ptr<IoQueue>> queues_;
};

}  // namespace rdmablk::target
