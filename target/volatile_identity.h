#pragma once

#include <mutex>

#include "target/export_identity.h"

namespace rdmablk::target {

/// The identity of an export whose content ends with the process: random.
class VolatileIdentity final : public ExportIdentity {
 public:
  /// Throws Error when there are no random numbers.
  VolatileIdentity();

  const protocol::Uuid& uuid() const noexcept override { return uuid_; }
  protocol::Generation generation() const override;
  std::uint64_t last_lease() const noexcept override { return last_lease_; }
  std::uint64_t next_lease() override { return ++last_lease_; }
  void mark_lost() noexcept override;

 private:
  protocol::Uuid uuid_;
  mutable std::mutex mutex_;
  protocol::Generation generation_;
  std::uint64_t last_lease_;
};

/// Where the numbers of leases begin when none are known: at random, so that the number of a lease
/// from a time that is forgotten is not given again.
std::uint64_t first_lease();

}  // namespace rdmablk::target
