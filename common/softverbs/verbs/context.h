#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <mutex>
#include <set>

#include "common/softverbs/faults/fault_injector.h"
#include "common/softverbs/verbs/device.h"
#include "common/softverbs/verbs/event_queue.h"
#include "common/softverbs/verbs/gid_table.h"

namespace softverbs {

/// Whether the element of an asynchronous event of this type is a queue pair.
inline bool is_queue_pair_event(ibv_event_type type) {
  return type == IBV_EVENT_QP_FATAL || type == IBV_EVENT_QP_REQ_ERR ||
         type == IBV_EVENT_QP_ACCESS_ERR || type == IBV_EVENT_COMM_EST ||
         type == IBV_EVENT_SQ_DRAINED;
}

class Process;
struct CompletionChannel;

/// An opened device. The `ibv_context` sits at the end of an empty `verbs_context`, because
/// providers' helpers look in front of the pointer that they are given; `abi_compat` stays unset,
/// so the inline functions of verbs.h use the plain functions.
class Context {
  verbs_context verbs_{};  // First: `from` counts on it.

 public:
  Context(Device& device, Process& process);
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;
  ~Context();

  static Context* from(ibv_context* context);
  ibv_context* base() { return &verbs_.context; }

  [[nodiscard]] Process& process() const { return process_; }
  [[nodiscard]] Device& device() const { return device_; }
  [[nodiscard]] const GidTable& gids() const { return gids_; }

  /// Protection domains, completion queues and channels of it.
  std::atomic<int> objects{0};

  /// Asynchronous events: see ibv_get_async_event(3). `report` may be called by any thread.
  EventQueue<ibv_async_event>& async_events() { return async_events_; }
  void report(ibv_qp* qp, ibv_event_type type);
  void report(ibv_cq* cq, ibv_event_type type);
  void report_port(ibv_event_type type);

  /// Whether its device has been removed: then every call but those that destroy gives EIO.
  [[nodiscard]] bool dead() const { return device_.removed.load(std::memory_order_relaxed); }
  /// Tells of the removal of the device, and ends all waiting for events.
  void die();
  void add(CompletionChannel& channel);
  void remove(CompletionChannel& channel);

  /// The fault async-event may strike: an event that asks nothing of a program.
  void disturb() {
    if (faults_ != nullptr) strike();
  }

 private:
  void strike();

  Device& device_;
  Process& process_;
  GidTable gids_;
  FaultInjector* const faults_ = FaultInjector::get();
  EventQueue<ibv_async_event> async_events_;
  std::atomic<bool> told_{false};  ///< Of the removal.
  std::mutex channels_mutex_;
  std::set<CompletionChannel*> channels_;
};

}  // namespace softverbs
