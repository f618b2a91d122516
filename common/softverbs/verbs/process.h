#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <set>

#include "common/softverbs/verbs/late_writes.h"
#include "common/softverbs/verbs/memory_region.h"
#include "common/softverbs/verbs/queue_pair_registry.h"
#include "common/softverbs/verbs/shared_table.h"

namespace softverbs {

class Context;
class DeviceWatch;
class Service;
struct Device;

/// What the devices of one process share: the published table, the registry of queue pairs and
/// the service. Made when the first device is opened, never destroyed.
///
/// In a forked child the parent's objects are dead: posting and polling report EIO, and a device
/// opened there belongs to a new Process.
class Process {
 public:
  Process();
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;

  /// The calling process's. Throws std::system_error when it cannot be made.
  static Process& current();
  /// Whether it has been made.
  static bool exists();

  SharedTable& table() { return *mapping_.get(); }
  [[nodiscard]] int table_memfd() const { return memfd_.get(); }
  [[nodiscard]] uint64_t token() const { return mapping_.get()->token; }

  /// Whether this is a child's copy of its parent's Process.
  [[nodiscard]] bool inherited() const { return inherited_.load(std::memory_order_relaxed); }

  /// A number that no other object of the process has.
  uint32_t next_handle() { return next_handle_.fetch_add(1); }

  MemoryRegionTable& regions() { return regions_; }
  QueuePairRegistry& queue_pairs() { return queue_pairs_; }
  Service& service() { return *service_; }
  LateWrites& late_writes() { return late_writes_; }

  /// Waits until every copy that was under way at the call is over: those of this process's work
  /// requests, those of its service thread and those that peers do to its memory.
  void wait_for_copies();

  /// Makes what still lives in a context unreachable for peers.
  /// \return whether nothing lived in it.
  bool abandon(ibv_context* context);

  /// The contexts that are open. Contexts enter and leave by themselves.
  void enter(Context& context);
  void leave(Context& context);

  /// A device is gone: what lives in its contexts is dead, and they are told.
  void remove(const Device& device);
  /// The port of a device went down or came up: peers can see it, and its contexts are told.
  void set_port(const Device& device);
  DeviceWatch& device_watch() { return *device_watch_; }

 private:
  void become_inherited();

  FileDescriptor memfd_;
  SharedTableMapping mapping_;
  MemoryRegionTable regions_;
  QueuePairRegistry queue_pairs_;
  std::unique_ptr<Service> service_;
  LateWrites late_writes_;
  std::atomic<uint32_t> next_handle_{1};
  std::atomic<bool> inherited_{false};
  std::mutex contexts_mutex_;
  std::set<Context*> contexts_;
  std::unique_ptr<DeviceWatch> device_watch_;
};

}  // namespace softverbs
