#pragma once

#include <rdma/rdma_cma.h>

#include <array>
#include <cstdint>
#include <memory>

#include "common/softverbs/cm/wire_message.h"

namespace softverbs::cm {

class Id;

/// One event from the moment it is queued until rdma_ack_cm_event(3) frees it.
/// The public part is what rdma_get_cm_event(3) shows.
struct Event : rdma_cm_event {
  /// @param about the id the event is about.
  /// @param owner the id that waits for the acknowledgement: the listener for a connect request,
  ///   `about` otherwise.
  Event(rdma_cm_event_type type, Id& about, Id& owner, int event_status = 0);
  Event(const Event&) = delete;
  Event& operator=(const Event&) = delete;
  Event(Event&&) = delete;
  Event& operator=(Event&&) = delete;
  ~Event();

  /// Copies what the peer's message says into `param.conn`: resources are shown from this end,
  /// private data is padded with zeroes to `shown_size` bytes.
  void set_connection(const Message& message, size_t shown_size);

  Id* owner;
  /// The new id of a connect request, owned by the event until the event has been read.
  std::unique_ptr<Id> request;
  std::array<uint8_t, 256> private_data{};
};

}  // namespace softverbs::cm
