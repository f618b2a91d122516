#include "common/softverbs/verbs/memory_region.h"

#include <cerrno>
#include <memory>

#include "common/softverbs/export.h"
#include "common/softverbs/verbs/context.h"
#include "common/softverbs/verbs/process.h"
#include "common/softverbs/verbs/protection_domain.h"
#include "common/softverbs/verbs/service.h"
#include "common/softverbs/verbs/settings.h"

#undef ibv_reg_mr
#undef ibv_reg_mr_iova

namespace softverbs {
namespace {

constexpr uint32_t kVariantBits = 8;
constexpr uint32_t kVariantMask = (1U << kVariantBits) - 1;
/// So many freed indexes rest before the oldest of them is used again.
constexpr size_t kRestingIndexes = 256;

constexpr unsigned kNeedsLocalWrite = IBV_ACCESS_REMOTE_WRITE | IBV_ACCESS_REMOTE_ATOMIC;
constexpr unsigned kKnownAccess = IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
                                  IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_ATOMIC |
                                  IBV_ACCESS_HUGETLB | IBV_ACCESS_OPTIONAL_RANGE;

/// Peers map regions that they read or write themselves. Looking for the memfd takes as long as the
/// process's list of mappings is, so it is not done for the small ones.
constexpr unsigned kMapped = IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE;
constexpr size_t kSmallestMapped = 64 * 1024;

ibv_mr* refuse(int error) {
  errno = error;
  return nullptr;
}

ibv_mr* register_region(ibv_pd* base, void* memory, size_t length, uint64_t iova, unsigned access) {
  auto* pd = ProtectionDomain::from(base);
  const auto address = reinterpret_cast<uint64_t>(memory);
  if (length == 0 || length > kMaxRegion || address + length < address || iova + length < iova) {
    return refuse(EINVAL);
  }
  if ((access & ~kKnownAccess) != 0) return refuse(EOPNOTSUPP);
  if ((access & kNeedsLocalWrite) && !(access & IBV_ACCESS_LOCAL_WRITE)) return refuse(EINVAL);

  if (pd->process().inherited() || Context::from(pd->context)->dead()) return refuse(EIO);
  MemoryRegionTable& regions = pd->process().regions();
  if (const int error = regions.pinned().pin(address, length)) return refuse(error);
  const bool writable = (access & IBV_ACCESS_LOCAL_WRITE) != 0;
  if (const int error = populate(address, length, writable)) {
    regions.pinned().unpin(address, length);
    return refuse(error);
  }
  auto region = std::make_unique<MemoryRegion>();
  if ((access & kMapped) && length >= kSmallestMapped && !Settings::get().memory_may_outlive_it) {
    region->memfd = regions.memfds().find(address, length);
  }
  const uint32_t key = regions.publish(pd->handle, static_cast<int>(access), iova, address, length,
                                       region->memfd ? &*region->memfd : nullptr);
  if (key == 0) {
    regions.pinned().unpin(address, length);
    return refuse(ENOMEM);
  }
  region->context = base->context;
  region->pd = base;
  region->addr = memory;
  region->length = length;
  region->handle = key >> kVariantBits;
  region->lkey = key;
  region->rkey = key;
  region->access = static_cast<int>(access);
  pd->users.fetch_add(1);
  return region.release();
}

}  // namespace

size_t index_of_key(uint32_t key) {
  return key >> kVariantBits;
}

std::optional<uint64_t> translate(SharedTable& table, uint32_t key, uint64_t address,
                                  uint64_t length, uint32_t pd, unsigned required) {
  const uint32_t index = key >> kVariantBits;
  if (index == 0 || index >= kMaxMemoryRegions) return std::nullopt;
  MemoryRegionSlot& slot = table.regions[index];
  if (slot.key.load() != key) return std::nullopt;
  if (slot.pd.load(std::memory_order_relaxed) != pd) return std::nullopt;
  if ((slot.access.load(std::memory_order_relaxed) & required) != required) return std::nullopt;
  const uint64_t iova = slot.iova.load(std::memory_order_relaxed);
  const uint64_t size = slot.length.load(std::memory_order_relaxed);
  if (address < iova || length > size || address - iova > size - length) return std::nullopt;
  return slot.address.load(std::memory_order_relaxed) + (address - iova);
}

uint32_t MemoryRegionTable::publish(uint32_t pd, int access, uint64_t iova, uint64_t address,
                                    uint64_t length, const MemfdRange* memfd) {
  std::lock_guard lock(mutex_);
  uint32_t key = 0;
  if (!free_keys_.empty() && (free_keys_.size() > kRestingIndexes || fresh_ == kMaxMemoryRegions)) {
    const uint32_t last = free_keys_.front();
    free_keys_.pop_front();
    key = (last & ~kVariantMask) | ((last + 1) & kVariantMask);
  } else if (fresh_ < kMaxMemoryRegions) {
    key = fresh_++ << kVariantBits | static_cast<uint32_t>(table_.token & kVariantMask);
  } else {
    return 0;
  }
  MemoryRegionSlot& slot = table_.regions[key >> kVariantBits];
  slot.pd.store(pd, std::memory_order_relaxed);
  slot.access.store(static_cast<uint32_t>(access), std::memory_order_relaxed);
  slot.iova.store(iova, std::memory_order_relaxed);
  slot.address.store(address, std::memory_order_relaxed);
  slot.length.store(length, std::memory_order_relaxed);
  slot.memfd.store(memfd ? memfd->memfd->get() : -1, std::memory_order_relaxed);
  slot.memfd_offset.store(memfd ? memfd->offset : 0, std::memory_order_relaxed);
  slot.key.store(key);
  return key;
}

void MemoryRegionTable::revoke(uint32_t key) {
  table_.regions[key >> kVariantBits].key.store(0);
}

void MemoryRegionTable::release(uint32_t key) {
  std::lock_guard lock(mutex_);
  free_keys_.push_back(key);
}

}  // namespace softverbs

using softverbs::MemoryRegion;
using softverbs::ProtectionDomain;

SOFTVERBS_EXPORT ibv_mr* ibv_reg_mr(ibv_pd* pd, void* addr, size_t length, int access) {
  return softverbs::register_region(pd, addr, length, reinterpret_cast<uint64_t>(addr),
                                    static_cast<unsigned>(access));
}

SOFTVERBS_EXPORT ibv_mr* ibv_reg_mr_iova(ibv_pd* pd, void* addr, size_t length, uint64_t iova,
                                         int access) {
  return softverbs::register_region(pd, addr, length, iova, static_cast<unsigned>(access));
}

SOFTVERBS_EXPORT ibv_mr* ibv_reg_mr_iova2(ibv_pd* pd, void* addr, size_t length, uint64_t iova,
                                          unsigned access) {
  return softverbs::register_region(pd, addr, length, iova, access);
}

SOFTVERBS_EXPORT int ibv_dereg_mr(ibv_mr* base) {
  auto* region = static_cast<MemoryRegion*>(base);
  auto* pd = ProtectionDomain::from(region->pd);
  softverbs::Process& process = pd->process();
  if (!process.inherited()) {  // A forked child's table is its parent's.
    process.regions().revoke(region->lkey);
    process.wait_for_copies();
    if (region->memfd) process.service().announce_region_gone(region->lkey);
    process.regions().pinned().unpin(reinterpret_cast<uint64_t>(region->addr), region->length);
    process.regions().release(region->lkey);
  }
  pd->users.fetch_sub(1);
  delete region;
  return 0;
}

SOFTVERBS_EXPORT int ibv_rereg_mr(ibv_mr*, int, ibv_pd*, void*, size_t, int) {
  errno = EOPNOTSUPP;
  return IBV_REREG_MR_ERR_INPUT;
}

SOFTVERBS_EXPORT ibv_mr* ibv_reg_dmabuf_mr(ibv_pd*, uint64_t, size_t, uint64_t, int, int) {
  return softverbs::refuse(EOPNOTSUPP);
}
