#include "common/softverbs/verbs/completion_channel.h"

#include <cerrno>
#include <memory>

#include "common/softverbs/export.h"
#include "common/softverbs/verbs/completion_queue.h"
#include "common/softverbs/verbs/context.h"

using softverbs::CompletionChannel;
using softverbs::CompletionQueue;

SOFTVERBS_EXPORT ibv_comp_channel* ibv_create_comp_channel(ibv_context* context) {
  if (softverbs::Context::from(context)->dead()) {
    errno = EIO;
    return nullptr;
  }
  auto channel = std::make_unique<CompletionChannel>();
  if (channel->events.fd() < 0) return nullptr;
  channel->context = context;
  channel->fd = channel->events.fd();
  channel->refcnt = 0;
  softverbs::Context::from(context)->objects.fetch_add(1);
  softverbs::Context::from(context)->add(*channel);
  return channel.release();
}

SOFTVERBS_EXPORT int ibv_destroy_comp_channel(ibv_comp_channel* base) {
  auto* channel = CompletionChannel::from(base);
  if (channel->users.load() != 0) return EBUSY;
  softverbs::Context::from(channel->context)->remove(*channel);
  softverbs::Context::from(channel->context)->objects.fetch_sub(1);
  delete channel;
  return 0;
}

SOFTVERBS_EXPORT int ibv_get_cq_event(ibv_comp_channel* base, ibv_cq** cq, void** cq_context) {
  CompletionQueue* queue = nullptr;
  const int result = CompletionChannel::from(base)->events.take(queue, [&](CompletionQueue* taken) {
    ++taken->events_delivered;
    *cq = taken;
    *cq_context = taken->cq_context;
  });
  return result;
}

SOFTVERBS_EXPORT void ibv_ack_cq_events(ibv_cq* cq, unsigned nevents) {
  pthread_mutex_lock(&cq->mutex);
  cq->comp_events_completed += nevents;
  pthread_cond_signal(&cq->cond);
  pthread_mutex_unlock(&cq->mutex);
}
