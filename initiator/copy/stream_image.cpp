#include "initiator/copy/stream_image.h"

#include <fcntl.h>

#include "initiator/copy/stream_queue.h"

namespace rdmablk::copy {
namespace {

/// What a pipe is asked to hold, in bytes: with the 64 KiB that it has by itself, its two ends wake
/// each other all the time.
constexpr int kPipeSize = 1 << 20;

}  // namespace

StreamImage::StreamImage(int fd, std::string name) : fd_(fd) {
  info_.name = std::move(name);
  info_.size = UINT64_MAX;
  info_.block_size = 1;
  info_.flush_is_free = true;
  ::fcntl(fd, F_SETPIPE_SZ, kPipeSize);  // fails when it is no pipe, which is well
}

std::unique_ptr<initiator::Queue> StreamImage::make_queue(unsigned depth) {
  return std::make_unique<StreamQueue>(fd_, depth);
}

std::unique_ptr<initiator::RequestBuffers> StreamImage::make_buffers(std::size_t bytes) {
  return std::make_unique<initiator::RequestBuffers>(bytes);
}

}  // namespace rdmablk::copy
