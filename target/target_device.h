#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/verbs/protection_domain.h"
#include "target/catalog.h"

namespace rdmablk::target {

/// A device that the target serves: what its sessions may attach, and the protection domain of
/// their messages, in which nothing else lies. Shared by whoever has made something with it; the
/// device may be closed when the last of them is gone.
class TargetDevice {
 public:
  /// Offers nothing yet.
  /// @param context outlives this. @param unused called at the end, by whichever thread has let go
  /// of it last. Throws SystemError.
  explicit TargetDevice(ibv_context* context, std::function<void()> unused = nullptr);
  ~TargetDevice();
  TargetDevice(const TargetDevice&) = delete;
  TargetDevice& operator=(const TargetDevice&) = delete;

  ibv_context* context() const noexcept { return messages_->context(); }
  std::string name() const;
  const verbs::ProtectionDomain& messages() const noexcept { return *messages_; }
  /// Exports in it last until they are removed from it.
  Catalog& catalog() noexcept { return catalog_; }
  const Catalog& catalog() const noexcept { return catalog_; }

 private:
  std::function<void()> unused_;
  std::optional<verbs::ProtectionDomain> messages_;
  Catalog catalog_;
};

}  // namespace rdmablk::target
