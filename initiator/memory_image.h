#pragma once

#include "initiator/attached_image.h"
#include "initiator/memory_queue.h"

namespace rdmablk::initiator {

/// An attached export that is served from memory, its writes not kept by flushes: its queues READ
/// and WRITE the target's memory.
class MemoryImage : public AttachedImage {
 public:
  /// Throws Error when the target's answer cannot be.
  explicit MemoryImage(std::unique_ptr<Attachment> attachment);

 protected:
  std::unique_ptr<ConnectedQueue> connect_queue(const QueuePlace& place, Way way,
                                                std::span<const std::byte> private_data) override;

  std::unique_ptr<QueueResize> make_resize(const QueuePlace& place) const override;

  /// For a queue over this device.
  MemoryQueueOptions queue_options(const QueuePlace& place, const SessionDevice& device) const;

  /// Where the chunk table is on the device that the target has a connected queue over: asks it,
  /// if need be. Throws Error when that cannot be.
  protocol::ChunkTable table_for(const QueuePlace& place) const;

 private:
  protocol::ChunkTable check(const protocol::ChunkTable& table) const;

  RequestBuffers zeroes_;
};

}  // namespace rdmablk::initiator
