#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>

#include "common/memory_mapping.h"
#include "initiator/registration.h"

namespace rdmablk::initiator {

/// The memory that the requests of one thread read into and write from: one piece, registered with
/// each device that leads to the image, once, zeroed, cut up by its owner.
class RequestBuffers {
 public:
  /// Memory for an image without a device.
  explicit RequestBuffers(std::size_t bytes) : mapping_(MemoryMapping::anonymous(bytes)) {}

  /// Memory registered for local access. Throws verbs::MemlockError or SystemError.
  RequestBuffers(std::size_t bytes, std::shared_ptr<DeviceTable> devices,
                 Registration::Use use = Registration::Use::requests)
      : mapping_(MemoryMapping::anonymous(bytes)),
        registration_(std::in_place, std::move(devices), mapping_.bytes(), use) {}

  std::span<std::byte> bytes() const noexcept { return mapping_.bytes(); }

  /// For requests; null without a device.
  const MemoryKeys* keys() const noexcept {
    return registration_ ? &registration_->keys() : nullptr;
  }

 private:
  MemoryMapping mapping_;  // outlives its registration
  std::optional<Registration> registration_;
};

}  // namespace rdmablk::initiator
