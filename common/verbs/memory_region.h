#pragma once

#include <infiniband/verbs.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "common/error.h"
#include "common/verbs/protection_domain.h"

namespace rdmablk::verbs {

/// Memory that a device may reach (ibv_reg_mr(3)). Its pages stay pinned until destruction.
class MemoryRegion {
 public:
  /// @param pd its protection domain, which outlives the region.
  /// @param memory what to register; not owned, stays mapped as long as the region lives.
  /// @param access IBV_ACCESS_* flags; 0 allows the device to read for the local side only.
  /// Throws MemlockError when the limit of locked memory is in the way, SystemError otherwise.
  MemoryRegion(const ProtectionDomain& pd, std::span<std::byte> memory, unsigned access);

  std::uint32_t lkey() const noexcept { return mr_->lkey; }
  std::uint32_t rkey() const noexcept { return mr_->rkey; }
  std::byte* data() const noexcept { return static_cast<std::byte*>(mr_->addr); }
  std::size_t size() const noexcept { return mr_->length; }

 private:
  struct Dereg {
    void operator()(ibv_mr* mr) const noexcept { ibv_dereg_mr(mr); }
  };
  std::unique_ptr<ibv_mr, Dereg> mr_;
};

/// The access flags for buffers that this side alone uses: nothing remote, but for the sink of an
/// iWARP READ.
unsigned local_access(const ibv_context* context) noexcept;

/// Registration was refused because of the limit of locked memory.
class MemlockError : public Error {
 public:
  /// @param needed the bytes that the program registers in all, as far as is known; each
  /// registration counts anew.
  MemlockError(const std::string& doing, std::uint64_t needed);
};

/// The limit of locked memory of this process (RLIMIT_MEMLOCK), in bytes; UINT64_MAX when there is
/// none or the process may exceed it (CAP_IPC_LOCK).
std::uint64_t memlock_limit();

}  // namespace rdmablk::verbs
