#pragma once

#include <asio/io_context.hpp>
#include <asio/posix/stream_descriptor.hpp>
#include <functional>

#include "common/lifetime.h"

namespace rdmablk {

/// Calls back whenever a descriptor is readable, until destroyed.
class DescriptorWatch {
 public:
  /// @param fd not owned; stays open as long as the watch lives.
  /// @param ready takes what there is to read; must not destroy the watch.
  DescriptorWatch(asio::io_context& io, int fd, std::function<void()> ready);
  ~DescriptorWatch();
  DescriptorWatch(const DescriptorWatch&) = delete;
  DescriptorWatch& operator=(const DescriptorWatch&) = delete;

 private:
  void wait();

  asio::posix::stream_descriptor descriptor_;
  std::function<void()> ready_;
  Lifetime lifetime_;
};

}  // namespace rdmablk
