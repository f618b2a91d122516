#pragma once

#include "common/verbs/registered_buffer.h"
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
  std::unique_ptr<ConnectedQueue> connect_queue(unsigned depth,
                                                std::span<const std::byte> private_data) override;

  std::unique_ptr<QueueResize> make_resize() const override;

  /// For a queue of this depth.
  MemoryQueueOptions queue_options(unsigned depth) const;

  /// Where the chunk table is. Throws Error when that cannot be.
  const protocol::ChunkTable& table() const;

 private:
  std::uint64_t max_piece_;
  verbs::RegisteredBuffer zeroes_;
};

}  // namespace rdmablk::initiator
