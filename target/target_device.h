#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "common/verbs/protection_domain.h"
#include "target/catalog.h"
#include "target/export.h"

namespace rdmablk::target {

/// A device that the target serves: what its sessions may attach, and the protection domain of
/// their messages, in which nothing else lies.
class TargetDevice {
 public:
  /// @param context outlives this. @param exports registered with it; outlive this.
  /// Throws SystemError.
  TargetDevice(ibv_context* context, std::span<const std::unique_ptr<Export>> exports);

  ibv_context* context() const noexcept { return messages_.context(); }
  std::string name() const;
  const verbs::ProtectionDomain& messages() const noexcept { return messages_; }
  const Catalog& catalog() const noexcept { return catalog_; }
  Catalog& catalog() noexcept { return catalog_; }

 private:
  verbs::ProtectionDomain messages_;
  Catalog catalog_;
};

}  // namespace rdmablk::target
