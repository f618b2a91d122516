#pragma once

#include <cstdint>
#include <memory>

#include "common/protocol/messages.h"
#include "common/verbs/registered_buffer.h"
#include "initiator/chunk_map.h"
#include "initiator/session_device.h"

namespace rdmablk::initiator {

/// Another size of an image on its way to one of its queues, and back when the queue is through
/// with the old one. The control thread makes it and destroys it, so that the queue's thread need
/// not allocate.
struct QueueResize {
  std::uint64_t size = 0;  ///< bytes

  // Of an image whose queues reach memory.
  std::shared_ptr<SessionDevice> device;          ///< of the queue
  protocol::ChunkTable table;                     ///< where the new table is
  std::unique_ptr<verbs::RegisteredBuffer> sink;  ///< for a copy of it; null: there is none
  ChunkMap chunks;                                ///< room for what it says; in the end the old one
};

}  // namespace rdmablk::initiator
