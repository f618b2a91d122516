#pragma once

#include "target/export_identity.h"
#include "target/file_fingerprint.h"

namespace rdmablk::target {

/// The identity of an export that nobody may write to: made of its file, so that an initiator finds
/// it again when the target has been restarted.
class FixedIdentity final : public ExportIdentity {
 public:
  /// @param size bytes. Throws Error.
  FixedIdentity(const FileFingerprint& file, std::uint64_t size);

  const protocol::Uuid& uuid() const noexcept override { return uuid_; }
  protocol::Generation generation() const override { return generation_; }
  std::uint64_t last_lease() const noexcept override { return 0; }

  /// @pre never: there are no leases to read.
  std::uint64_t next_lease() override;
  void mark_lost() noexcept override {}

 private:
  protocol::Uuid uuid_;
  protocol::Generation generation_;
};

}  // namespace rdmablk::target
