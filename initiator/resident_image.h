#pragma once

#include "initiator/memory_image.h"
#include "initiator/resident_queue.h"

namespace rdmablk::initiator {

/// An attached resident export that may be written: served as a memory export, and flushed to its
/// file.
class ResidentImage final : public MemoryImage {
 public:
  /// Throws Error when the target's answer cannot be.
  explicit ResidentImage(std::unique_ptr<Attachment> attachment);

  bool has_unflushed() const noexcept override { return state_.has_unflushed(); }

 protected:
  std::unique_ptr<ConnectedQueue> connect_queue(const QueuePlace& place, Way way,
                                                std::span<const std::byte> private_data) override;

  void on_size(std::uint64_t size) noexcept override;

 private:
  ResidentState state_;
};

}  // namespace rdmablk::initiator
