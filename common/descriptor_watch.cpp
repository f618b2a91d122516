#include "common/descriptor_watch.h"

#include <utility>

namespace rdmablk {

DescriptorWatch::DescriptorWatch(asio::io_context& io, int fd, std::function<void()> ready)
    : descriptor_(io, fd), ready_(std::move(ready)) {
  wait();
}

DescriptorWatch::~DescriptorWatch() {
  // Not ours to close.
  descriptor_.release();
}

void DescriptorWatch::wait() {
  descriptor_.async_wait(asio::posix::stream_descriptor::wait_read,
                         lifetime_.guard([this](const asio::error_code& error) {
                           if (error) return;
                           ready_();
                           wait();
                         }));
}

}  // namespace rdmablk
