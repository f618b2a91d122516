#pragma once

#include <cstddef>
#include <span>

#include "common/memory_mapping.h"
#include "common/verbs/memory_region.h"

namespace rdmablk::verbs {

/// Zeroed memory of this process, registered as one region: to be cut up by its owner, since
/// registering is far dearer than copying.
class RegisteredBuffer {
 public:
  /// @param bytes rounded up to pages. @param access IBV_ACCESS_* flags.
  /// Throws MemlockError or SystemError.
  RegisteredBuffer(const ProtectionDomain& pd, std::size_t bytes, unsigned access)
      : mapping_(MemoryMapping::anonymous(bytes)), region_(pd, mapping_.bytes(), access) {}

  std::byte* data() const noexcept { return mapping_.data(); }
  std::size_t size() const noexcept { return mapping_.size(); }
  std::span<std::byte> bytes() const noexcept { return mapping_.bytes(); }
  std::uint32_t lkey() const noexcept { return region_.lkey(); }
  std::uint32_t rkey() const noexcept { return region_.rkey(); }

  /// The part that is cut out as piece `index` of `size` bytes.
  std::span<std::byte> piece(std::size_t index, std::size_t size) const noexcept {
    return mapping_.bytes().subspan(index * size, size);
  }

 private:
  MemoryMapping mapping_;  // outlives its registration
  MemoryRegion region_;
};

}  // namespace rdmablk::verbs
