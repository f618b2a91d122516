#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "initiator/image.h"
#include "initiator/recovery_options.h"

namespace rdmablk::testing {

/// Has requests end with EIO as soon as a connection is lost.
inline initiator::RecoveryOptions no_recovery() {
  initiator::RecoveryOptions options;
  options.give_up = std::chrono::milliseconds(0);
  return options;
}

/// Drives one queue of an image: a set of requests with a buffer each.
class QueueDriver {
 public:
  /// @param requests that can be under way at once. @param buffer_size bytes of each one's buffer.
  QueueDriver(initiator::Image& image, unsigned depth, unsigned requests, std::size_t buffer_size);

  /// Prepares and submits a request; kick() or wait() hands it over. @pre not all are under way.
  initiator::Request& submit(initiator::Operation operation, std::uint64_t offset,
                             std::uint64_t length);

  std::span<std::byte> buffer(const initiator::Request& request);

  void kick() { queue_->kick(); }

  /// Waits until one request has ended. Throws when nothing happens for long.
  initiator::Request& wait();

  /// Takes a request that has ended; null when there is none now.
  initiator::Request* poll();

  /// Submits one request and waits for it, the only one. @return its error.
  int run(initiator::Operation operation, std::uint64_t offset, std::uint64_t length);

  /// The buffer of what was submitted last.
  std::span<std::byte> last_buffer() { return buffer(*last_); }

  /// Sleeps until the queue has something to tell. @return whether it did.
  bool sleep();

  initiator::Queue& queue() { return *queue_; }
  std::size_t under_way() const { return requests_.size() - free_.size(); }

 private:
  std::unique_ptr<initiator::Queue> queue_;
  std::unique_ptr<initiator::RequestBuffers> buffers_;
  std::size_t buffer_size_;
  std::vector<initiator::Request> requests_;
  std::vector<initiator::Request*> free_;
  initiator::Request* last_ = nullptr;
};

}  // namespace rdmablk::testing
