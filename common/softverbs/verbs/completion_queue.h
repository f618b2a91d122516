#pragma once

#include <infiniband/verbs.h>

#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "common/softverbs/faults/fault_injector.h"

namespace softverbs {

struct CompletionChannel;
class Process;

/// A completion and what polling it frees.
struct Completion {
  ibv_wc wc{};
  const void* owner = nullptr;  ///< The queue pair.
  /// Set to `consumed_to` when polled: the work requests up to there are free again.
  std::atomic<uint64_t>* consumed = nullptr;
  uint64_t consumed_to = 0;
};

/// What `ibv_create_cq` hands out: a ring of completions. Thread-safe.
class CompletionQueue : public ibv_cq {
 public:
  CompletionQueue(ibv_context* context, int size, void* cq_context, CompletionChannel* channel);
  CompletionQueue(const CompletionQueue&) = delete;
  CompletionQueue& operator=(const CompletionQueue&) = delete;
  ~CompletionQueue();

  static CompletionQueue* from(ibv_cq* cq) { return static_cast<CompletionQueue*>(cq); }

  /// Adds a completion and, if the queue is armed for it, an event.
  /// \param solicited  it satisfies a notification of solicited completions only
  /// \return false when the queue overflows or has done so before: the completion is lost and, the
  ///         first time, IBV_EVENT_CQ_ERR is reported.
  bool push(const Completion& completion, bool solicited);

  int poll(int count, ibv_wc* completions);
  int request_notification(bool solicited_only);
  int resize(int size);

  /// Removes the completions of a queue pair, as destroying or resetting it does.
  void remove(const void* owner);

  /// Waits until the events that were delivered are acknowledged, and drops the others.
  void wait_for_acknowledgements();

  std::atomic<int> users{0};  ///< Queue pairs attached to it.
  std::atomic<uint32_t> async_delivered{0};
  uint32_t events_delivered = 0;  ///< Guarded by the channel's event queue.

 private:
  enum class Armed { kNo, kSolicited, kAny };

  bool helps_service();
  int take(int count, ibv_wc* completions);
  size_t disturb(size_t count);
  void put_another_first(size_t count);
  void notify();

  Process& process_;
  FaultInjector* const faults_ = FaultInjector::get();
  CompletionChannel* channel_;
  std::mutex mutex_;
  std::vector<Completion> ring_;
  size_t head_ = 0;
  std::atomic<size_t> count_{0};
  std::atomic<Armed> armed_{Armed::kNo};  ///< Changes under the lock.
  bool overrun_ = false;
  std::atomic<unsigned> vain_polls_{0};  ///< In a row, since the service was helped.
};

}  // namespace softverbs
