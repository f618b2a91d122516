#include "common/softverbs/verbs/completion_queue.h"

#include <algorithm>
#include <cerrno>
#include <new>
#include <string>

#include "common/softverbs/export.h"
#include "common/softverbs/verbs/completion_channel.h"
#include "common/softverbs/verbs/context.h"
#include "common/softverbs/verbs/limits.h"
#include "common/softverbs/verbs/process.h"
#include "common/softverbs/verbs/service.h"

namespace softverbs {
namespace {

/// Who polls so often in vain, one time after the other, does the service's work once.
constexpr unsigned kPollsPerHelp = 8;

}  // namespace

CompletionQueue::CompletionQueue(ibv_context* context_of, int size, void* cq_context_of,
                                 CompletionChannel* channel_of)
    : ibv_cq{},
      process_(Context::from(context_of)->process()),
      channel_(channel_of),
      ring_(static_cast<size_t>(size)) {
  context = context_of;
  channel = channel_of;
  cq_context = cq_context_of;
  handle = process_.next_handle();
  cqe = size;
  pthread_mutex_init(&mutex, nullptr);
  pthread_cond_init(&cond, nullptr);
  Context::from(context)->objects.fetch_add(1);
  if (channel_ != nullptr) {
    channel_->users.fetch_add(1);
    ++channel_->refcnt;
  }
}

CompletionQueue::~CompletionQueue() {
  Context::from(context)->objects.fetch_sub(1);
  if (channel_ != nullptr) {
    --channel_->refcnt;
    channel_->users.fetch_sub(1);
  }
  pthread_cond_destroy(&cond);
  pthread_mutex_destroy(&mutex);
}

bool CompletionQueue::push(const Completion& completion, bool solicited) {
  std::lock_guard lock(mutex_);
  const size_t count = count_.load(std::memory_order_relaxed);
  if (overrun_ || count == ring_.size()) {
    if (!overrun_) Context::from(context)->report(this, IBV_EVENT_CQ_ERR);
    overrun_ = true;
    return false;
  }
  ring_[(head_ + count) % ring_.size()] = completion;
  count_.store(count + 1, std::memory_order_release);
  const Armed armed = armed_.load(std::memory_order_relaxed);
  const bool wanted = armed == Armed::kAny || (armed == Armed::kSolicited && solicited);
  if (wanted) notify();
  return true;
}

void CompletionQueue::notify() {
  if (channel_ == nullptr) return;
  armed_ = Armed::kNo;
  channel_->events.push(this);
}

int CompletionQueue::poll(int count, ibv_wc* completions) {
  const int taken = take(count, completions);
  if (taken != 0) vain_polls_.store(0, std::memory_order_relaxed);
  if (taken != 0 || process_.inherited() || !helps_service()) return taken;
  // Who armed the queue polls once more and then sleeps.
  process_.service().progress(armed_.load(std::memory_order_relaxed) == Armed::kNo);
  return take(count, completions);
}

/// It costs a system call, and READs and WRITEs complete without the service.
bool CompletionQueue::helps_service() {
  const unsigned polls = vain_polls_.load(std::memory_order_relaxed) + 1;
  const bool helps = polls == kPollsPerHelp;
  vain_polls_.store(helps ? 0 : polls, std::memory_order_relaxed);
  return helps;
}

int CompletionQueue::take(int count, ibv_wc* completions) {
  if (count_.load(std::memory_order_acquire) == 0) return 0;
  std::lock_guard lock(mutex_);
  size_t left = count_.load(std::memory_order_relaxed);
  const size_t kept = faults_ != nullptr && left > 1 ? disturb(left) : 0;
  int taken = 0;
  for (; taken < count && left > kept; ++taken, --left) {
    const Completion& completion = ring_[head_];
    completions[taken] = completion.wc;
    completion.consumed->store(completion.consumed_to, std::memory_order_release);
    head_ = (head_ + 1) % ring_.size();
  }
  count_.store(left, std::memory_order_relaxed);
  // What was kept back comes after this poll, so who waits for it hears of it.
  if (kept != 0 && armed_.load(std::memory_order_relaxed) != Armed::kNo) notify();
  return taken;
}

/// Faults: the completions of another queue pair may come first, and the last ones a little later.
/// \return how many are to be kept back.
size_t CompletionQueue::disturb(size_t count) {
  if (const auto strike = faults_->strike(Fault::kReorder)) put_another_first(count);
  const auto strike = faults_->strike(Fault::kPollShort);
  if (!strike) return 0;
  const size_t kept = 1 + strike->random % (count - 1);
  faults_->log(Fault::kPollShort, std::to_string(kept) + "/" + std::to_string(count));
  return kept;
}

void CompletionQueue::put_another_first(size_t count) {
  const auto at = [&](size_t i) -> Completion& { return ring_[(head_ + i) % ring_.size()]; };
  size_t other = 1;
  while (other < count && at(other).owner == at(0).owner) ++other;
  if (other == count) return;
  const Completion first = at(other);
  for (size_t i = other; i > 0; --i) at(i) = at(i - 1);
  at(0) = first;
  faults_->log(Fault::kReorder, std::to_string(other));
}

int CompletionQueue::request_notification(bool solicited_only) {
  if (Context::from(context)->dead()) return EIO;
  process_.service().polling_ended();
  std::lock_guard lock(mutex_);
  if (!solicited_only) {
    armed_ = Armed::kAny;
  } else if (armed_.load(std::memory_order_relaxed) == Armed::kNo) {
    armed_ = Armed::kSolicited;
  }
  // A completion that was polled just before would leave its event behind like this.
  if (faults_ != nullptr && faults_->strike(Fault::kSpuriousEvent)) {
    faults_->log(Fault::kSpuriousEvent, "");
    notify();
  }
  return 0;
}

int CompletionQueue::resize(int size) {
  if (Context::from(context)->dead()) return EIO;
  if (size < 1 || size > kMaxCqe) return EINVAL;
  std::lock_guard lock(mutex_);
  const size_t count = count_.load(std::memory_order_relaxed);
  if (static_cast<size_t>(size) < count) return EINVAL;
  std::vector<Completion> ring(static_cast<size_t>(size));
  for (size_t i = 0; i < count; ++i) ring[i] = ring_[(head_ + i) % ring_.size()];
  ring_.swap(ring);
  head_ = 0;
  cqe = size;
  return 0;
}

void CompletionQueue::remove(const void* owner) {
  std::lock_guard lock(mutex_);
  const size_t count = count_.load(std::memory_order_relaxed);
  size_t kept = 0;
  for (size_t i = 0; i < count; ++i) {
    const Completion& completion = ring_[(head_ + i) % ring_.size()];
    if (completion.owner == owner) continue;
    ring_[(head_ + kept++) % ring_.size()] = completion;
  }
  count_.store(kept, std::memory_order_relaxed);
}

void CompletionQueue::wait_for_acknowledgements() {
  if (channel_ != nullptr) {
    channel_->events.discard([this](const CompletionQueue* each) { return each == this; });
  }
  Context::from(context)->async_events().discard([this](const ibv_async_event& event) {
    return event.event_type == IBV_EVENT_CQ_ERR && event.element.cq == this;
  });
  pthread_mutex_lock(&mutex);
  while (comp_events_completed != events_delivered ||
         async_events_completed != async_delivered.load()) {
    pthread_cond_wait(&cond, &mutex);
  }
  pthread_mutex_unlock(&mutex);
}

}  // namespace softverbs

using softverbs::CompletionChannel;
using softverbs::CompletionQueue;

SOFTVERBS_EXPORT ibv_cq* ibv_create_cq(ibv_context* context, int cqe, void* cq_context,
                                       ibv_comp_channel* channel, int comp_vector) {
  if (softverbs::Context::from(context)->dead()) {
    errno = EIO;
    return nullptr;
  }
  if (cqe < 1 || cqe > softverbs::kMaxCqe || comp_vector < 0 ||
      comp_vector >= context->num_comp_vectors) {
    errno = EINVAL;
    return nullptr;
  }
  auto* ours = channel == nullptr ? nullptr : CompletionChannel::from(channel);
  try {
    return new CompletionQueue(context, cqe, cq_context, ours);
  } catch (const std::bad_alloc&) {
    errno = ENOMEM;
    return nullptr;
  }
}

SOFTVERBS_EXPORT int ibv_resize_cq(ibv_cq* cq, int cqe) {
  return CompletionQueue::from(cq)->resize(cqe);
}

SOFTVERBS_EXPORT int ibv_destroy_cq(ibv_cq* base) {
  auto* cq = CompletionQueue::from(base);
  if (cq->users.load() != 0) return EBUSY;
  cq->wait_for_acknowledgements();
  delete cq;
  return 0;
}
