#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "common/memory_mapping.h"
#include "common/verbs/memory_region.h"

namespace rdmablk::initiator {

/// The memory that the requests of one thread read into and write from: one piece, registered with
/// the image's device once, zeroed, cut up by its owner.
class RequestBuffers {
 public:
  /// Memory for an image without a device.
  explicit RequestBuffers(std::size_t bytes) : mapping_(MemoryMapping::anonymous(bytes)) {}

  /// Memory registered for local access on a device. Throws verbs::MemlockError or SystemError.
  RequestBuffers(std::size_t bytes, const verbs::ProtectionDomain& pd)
      : mapping_(MemoryMapping::anonymous(bytes)),
        region_(std::in_place, pd, mapping_.bytes(), verbs::local_access(pd.context())) {}

  std::span<std::byte> bytes() const noexcept { return mapping_.bytes(); }
  std::uint32_t lkey() const noexcept { return region_ ? region_->lkey() : 0; }

 private:
  MemoryMapping mapping_;  // outlives its registration
  std::optional<verbs::MemoryRegion> region_;
};

}  // namespace rdmablk::initiator
