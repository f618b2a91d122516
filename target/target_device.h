#pragma once

#include <string>

#include "common/verbs/protection_domain.h"
#include "target/catalog.h"

namespace rdmablk::target {

/// A device that the target serves: what its sessions may attach, and the protection domain of
/// their messages, in which nothing else lies.
class TargetDevice {
 public:
  /// Offers nothing yet.
  /// @param context outlives this. Throws SystemError.
  explicit TargetDevice(ibv_context* context) : messages_(context) {}

  ibv_context* context() const noexcept { return messages_.context(); }
  std::string name() const;
  const verbs::ProtectionDomain& messages() const noexcept { return messages_; }
  /// Exports in it are registered with the device, and last until they are removed from it.
  Catalog& catalog() noexcept { return catalog_; }
  const Catalog& catalog() const noexcept { return catalog_; }

 private:
  verbs::ProtectionDomain messages_;
  Catalog catalog_;
};

}  // namespace rdmablk::target
