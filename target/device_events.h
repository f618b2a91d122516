#pragma once

#include <infiniband/verbs.h>

#include <asio/io_context.hpp>

#include "common/descriptor_watch.h"

namespace rdmablk::target {

/// Takes what a device reports of its own accord (ibv_get_async_event(3)) and logs it: a peer that
/// reaches for memory that it may not have, a port that goes down. Used by the control thread.
class DeviceEvents {
 public:
  /// @param device outlives this; nobody else takes its events. Throws SystemError.
  DeviceEvents(asio::io_context& io, ibv_context* device);

 private:
  void take() noexcept;

  ibv_context* device_;
  DescriptorWatch watch_;
};

}  // namespace rdmablk::target
