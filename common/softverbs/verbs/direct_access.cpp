#include "common/softverbs/verbs/direct_access.h"

#include <infiniband/verbs.h>

#include "common/softverbs/verbs/memory_region.h"
#include "common/softverbs/verbs/settings.h"
#include "common/softverbs/verbs/shared_table.h"

namespace softverbs {
namespace {

ibv_qp_state state_of(const QueuePairSlot& slot) {
  return static_cast<ibv_qp_state>(slot.state.load());
}

/// Whether nothing comes through the responder's port.
bool is_cut_off(const SharedTable& table, const Route& route) {
  return (table.ports_down.load() & 1U << device_of_port(route.dest_port)) != 0;
}

bool accepts(const QueuePairSlot& slot, const Route& route) {
  const ibv_qp_state state = state_of(slot);
  return slot.qpn.load() == route.dest_qpn && slot.dest_qpn.load() == route.source_qpn &&
         slot.dest_token.load() == route.token && slot.rq_psn.load() == route.psn &&
         slot.port.load() == route.dest_port &&
         (state == IBV_QPS_RTR || state == IBV_QPS_RTS || state == IBV_QPS_SQD);
}

Access why_not(const QueuePairSlot& slot, const Route& route) {
  const bool gone = slot.qpn.load() != route.dest_qpn || state_of(slot) == IBV_QPS_ERR;
  return gone ? Access::kGone : Access::kNotReady;
}

Access copy_here(void* remote, const PieceList& local, bool reads) {
  if (reads) {
    scatter(local, remote);
  } else {
    gather(local, remote);
  }
  return Access::kDone;
}

/// What a fault on a page that is only read maps at once of a file's pages in memory, as the kernel
/// is set.
constexpr uintptr_t kFaultAround = 65536;

/// Reads a byte of each block of a range that is about to be written. A write that comes upon a
/// page for the first time maps that page alone; a read maps, for writing as well, all its
/// neighbours that the file has.
void fault_in(const void* start, size_t length) {
  const auto end = reinterpret_cast<uintptr_t>(start) + length;
  auto next = reinterpret_cast<uintptr_t>(start);
  while (next < end) {
    static_cast<void>(*reinterpret_cast<const volatile char*>(next));
    next = (next / kFaultAround + 1) * kFaultAround;
  }
}

void* find_mapped(Peer& peer, uint32_t key, uint64_t address) {
  if (Settings::get().copy != Copy::kMapped || peer.refuses_copies()) return nullptr;
  return peer.windows().find(peer.pidfd(), key, peer.table().regions[index_of_key(key)], address);
}

Access copy(Peer& peer, uint32_t key, uint64_t remote, const PieceList& local, bool reads) {
  if (peer.is_self()) return copy_here(reinterpret_cast<void*>(remote), local, reads);
  if (void* mapped = find_mapped(peer, key, remote)) {
    if (!reads) fault_in(mapped, local.length());
    return copy_here(mapped, local, reads);
  }
  if (peer.refuses_copies()) return Access::kRefusedCopy;
  switch (reads ? read_process(peer.pid(), local, remote)
                : write_process(peer.pid(), local, remote)) {
    case CopyResult::kDone:
      return Access::kDone;
    case CopyResult::kRefused:
      peer.remember_refusal();
      return Access::kRefusedCopy;
    case CopyResult::kGone:
      return Access::kGone;
    case CopyResult::kFault:
      return Access::kFault;
  }
  return Access::kFault;
}

}  // namespace

Access access_directly(Peer& peer, const Route& route, const RemoteRange& remote,
                       const PieceList& local, bool reads) {
  if (peer.dead()) return Access::kGone;
  QueuePairSlot& slot = peer.table().queue_pair(route.dest_qpn);
  if (is_cut_off(peer.table(), route)) return Access::kNotReady;
  if (!accepts(slot, route)) return why_not(slot, route);

  const BusyWord busy(slot.busy);
  if (is_cut_off(peer.table(), route)) return Access::kNotReady;
  if (!accepts(slot, route)) return why_not(slot, route);
  const unsigned required = reads ? IBV_ACCESS_REMOTE_READ : IBV_ACCESS_REMOTE_WRITE;
  if (!(slot.access.load() & required)) return Access::kInvalid;
  if (remote.length == 0) return Access::kDone;
  const auto address =
      translate(peer.table(), remote.rkey, remote.address, remote.length, slot.pd.load(), required);
  if (!address) return Access::kRefusedKey;
  return copy(peer, remote.rkey, *address, local, reads);
}

}  // namespace softverbs
