#pragma once

#include <infiniband/verbs.h>

#include <asio/io_context.hpp>
#include <functional>

#include "common/descriptor_watch.h"

namespace rdmablk::target {

/// Takes what a device reports of its own accord (ibv_get_async_event(3)) and logs it: a peer that
/// reaches for memory that it may not have, a port that goes down. Used by the control thread.
class DeviceEvents {
 public:
  /// @param device outlives this; nobody else takes its events. @param failed called when it
  /// reports that it does not work any more. Throws SystemError.
  DeviceEvents(asio::io_context& io, ibv_context* device, std::function<void()> failed);

 private:
  void take() noexcept;
  void log(const ibv_async_event& event) const;

  ibv_context* device_;
  std::function<void()> failed_;
  DescriptorWatch watch_;
};

}  // namespace rdmablk::target
