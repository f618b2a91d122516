#pragma once

#include <infiniband/verbs.h>

#include <asio/io_context.hpp>
#include <cstdint>
#include <functional>

#include "common/descriptor_watch.h"

namespace rdmablk::verbs {

/// Takes what a device reports of its own accord (ibv_get_async_event(3)) and logs it: a peer that
/// reaches for memory that it may not have, a port that goes down. Used by the thread that runs the
/// io_context. Several may share a device: each event is taken by one of them.
class DeviceEvents {
 public:
  /// @param device outlives this. @param told called with what concerns more than one connection.
  /// Throws SystemError.
  DeviceEvents(asio::io_context& io, ibv_context* device,
               std::function<void(ibv_event_type type)> told);

 private:
  void take() noexcept;
  void log(const ibv_async_event& event) const;

  ibv_context* device_;
  std::function<void(ibv_event_type type)> told_;
  DescriptorWatch watch_;
};

}  // namespace rdmablk::verbs
