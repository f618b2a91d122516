#pragma once

#include "initiator/attached_image.h"
#include "initiator/flush_ledger.h"

namespace rdmablk::initiator {

/// An attached file export: its queues send commands to the target.
class FileImage final : public AttachedImage {
 public:
  /// Throws Error when the target's answer cannot be.
  explicit FileImage(std::unique_ptr<Attachment> attachment);

  bool has_unflushed() const noexcept override { return ledger_.has_unflushed(); }

 protected:
  std::unique_ptr<ConnectedQueue> connect_queue(const QueuePlace& place, Way way,
                                                std::span<const std::byte> private_data) override;

 private:
  unsigned granted_depth() const;

  FlushLedger ledger_;
};

}  // namespace rdmablk::initiator
