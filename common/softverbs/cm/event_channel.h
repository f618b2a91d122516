#pragma once

#include <rdma/rdma_cma.h>

#include <deque>
#include <memory>

#include "common/softverbs/cm/event.h"
#include "common/softverbs/file_descriptor.h"

namespace softverbs::cm {

/// The queue behind rdma_create_event_channel(3). Its descriptor is readable exactly while the
/// queue holds something. All member functions but wait() need the process's lock.
class EventChannel : public rdma_event_channel {
 public:
  /// @throws std::system_error
  EventChannel();
  EventChannel(const EventChannel&) = delete;
  EventChannel& operator=(const EventChannel&) = delete;

  void push(std::unique_ptr<Event> event);
  /// @return null when the queue is empty.
  std::unique_ptr<Event> pop();
  /// Takes out every event that `owner` would have to see acknowledged, oldest first.
  std::deque<std::unique_ptr<Event>> take(const Id& owner);
  /// Waits until the queue may hold something; without the lock.
  /// @return 0, or EAGAIN (the descriptor is non-blocking), EINTR (a signal) or another errno.
  [[nodiscard]] int wait() const;

  /// Threads that are in rdma_get_cm_event(3) with it.
  int readers = 0;
  /// Closes the descriptor of a channel that still has readers. It stays for them, for ever.
  void abandon();
  [[nodiscard]] bool abandoned() const { return abandoned_; }

 private:
  void mark_readable() const;
  void mark_empty() const;

  FileDescriptor descriptor_;
  bool abandoned_ = false;
  std::deque<std::unique_ptr<Event>> queue_;
};

}  // namespace softverbs::cm
