#pragma once

#include <cstdint>

namespace softverbs {

/// Something that the service thread waits for with epoll.
class EventHandler {
 public:
  EventHandler() = default;
  EventHandler(const EventHandler&) = delete;
  EventHandler& operator=(const EventHandler&) = delete;
  virtual ~EventHandler() = default;
  /// Called by the service thread with the epoll_events that are set.
  virtual void on_events(uint32_t events) = 0;
};

}  // namespace softverbs
