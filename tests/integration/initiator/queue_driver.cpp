#include "tests/integration/initiator/queue_driver.h"

#include <poll.h>

#include "common/error.h"

namespace rdmablk::testing {
namespace {

/// Far longer than anything takes.
constexpr int kPatienceMs = 60000;

}  // namespace

QueueDriver::QueueDriver(initiator::Image& image, unsigned depth, unsigned requests,
                         std::size_t buffer_size)
    : queue_(image.make_queue(depth)),
      buffers_(image.make_buffers(requests * buffer_size)),
      buffer_size_(buffer_size),
      requests_(requests) {
  for (initiator::Request& request : requests_) free_.push_back(&request);
}

std::span<std::byte> QueueDriver::buffer(const initiator::Request& request) {
  const auto index = static_cast<std::size_t>(&request - requests_.data());
  return buffers_->bytes().subspan(index * buffer_size_, buffer_size_);
}

initiator::Request& QueueDriver::submit(initiator::Operation operation, std::uint64_t offset,
                                        std::uint64_t length) {
  initiator::Request& request = *free_.back();
  free_.pop_back();
  last_ = &request;
  request.operation = operation;
  request.durable = false;
  request.offset = offset;
  request.length = length;
  request.data = buffer(request).data();
  request.keys = buffers_->keys();
  queue_->submit(request);
  return request;
}

bool QueueDriver::sleep() {
  pollfd wait{queue_->fd(), POLLIN, 0};
  return ::poll(&wait, 1, kPatienceMs) == 1;
}

initiator::Request& QueueDriver::wait() {
  queue_->kick();
  initiator::Request* done = nullptr;
  while (queue_->poll({&done, 1}) == 0) {
    queue_->arm();
    if (queue_->poll({&done, 1}) == 1) break;
    if (!sleep()) throw Error("a request did not end");
  }
  free_.push_back(done);
  return *done;
}

initiator::Request* QueueDriver::poll() {
  initiator::Request* done = nullptr;
  if (queue_->poll({&done, 1}) == 1) free_.push_back(done);
  return done;
}

int QueueDriver::run(initiator::Operation operation, std::uint64_t offset, std::uint64_t length) {
  submit(operation, offset, length);
  return wait().error;
}

}  // namespace rdmablk::testing
