#include "common/softverbs/verbs/context.h"

#include <array>
#include <cerrno>
#include <string>
#include <system_error>

#include "common/softverbs/export.h"
#include "common/softverbs/verbs/completion_channel.h"
#include "common/softverbs/verbs/completion_queue.h"
#include "common/softverbs/verbs/limits.h"
#include "common/softverbs/verbs/process.h"
#include "common/softverbs/verbs/queue_pair.h"

namespace softverbs {

Context::Context(Device& device, Process& process)
    : device_(device), process_(process), gids_(device.index) {
  if (async_events_.fd() < 0) {
    throw std::system_error(errno, std::generic_category(), "creating an event descriptor");
  }
  ibv_context& context = verbs_.context;
  context.device = &device.base;
  context.cmd_fd = -1;
  context.async_fd = async_events_.fd();
  context.num_comp_vectors = kCompletionVectors;
  pthread_mutex_init(&context.mutex, nullptr);
  context.ops.poll_cq = [](ibv_cq* cq, int count, ibv_wc* completions) {
    return CompletionQueue::from(cq)->poll(count, completions);
  };
  context.ops.req_notify_cq = [](ibv_cq* cq, int solicited_only) {
    return CompletionQueue::from(cq)->request_notification(solicited_only != 0);
  };
  context.ops.post_send = [](ibv_qp* qp, ibv_send_wr* request, ibv_send_wr** bad) {
    return QueuePair::from(qp)->post_send(request, bad);
  };
  context.ops.post_recv = [](ibv_qp* qp, ibv_recv_wr* request, ibv_recv_wr** bad) {
    return QueuePair::from(qp)->post_receive(request, bad);
  };
  context.ops.post_srq_recv = [](ibv_srq*, ibv_recv_wr* request, ibv_recv_wr** bad) {
    *bad = request;
    return EOPNOTSUPP;
  };
  context.ops.bind_mw = [](ibv_qp*, ibv_mw*, ibv_mw_bind*) { return EOPNOTSUPP; };
  context.ops.dealloc_mw = [](ibv_mw*) { return EOPNOTSUPP; };
  process_.enter(*this);
}

Context::~Context() {
  pthread_mutex_destroy(&verbs_.context.mutex);
}

Context* Context::from(ibv_context* context) {
  // verbs_ is the first member and the ibv_context its last.
  return reinterpret_cast<Context*>(reinterpret_cast<char*>(context) -
                                    offsetof(verbs_context, context));
}

void Context::report(ibv_qp* qp, ibv_event_type type) {
  ibv_async_event event{};
  event.element.qp = qp;
  event.event_type = type;
  async_events_.push(event);
}

void Context::report(ibv_cq* cq, ibv_event_type type) {
  ibv_async_event event{};
  event.element.cq = cq;
  event.event_type = type;
  async_events_.push(event);
}

void Context::report_port(ibv_event_type type) {
  ibv_async_event event{};
  event.element.port_num = 1;
  event.event_type = type;
  async_events_.push(event);
}

void Context::die() {
  if (told_.exchange(true)) return;
  ibv_async_event event{};
  event.event_type = IBV_EVENT_DEVICE_FATAL;
  async_events_.push(event);
  async_events_.close();
  const std::lock_guard lock(channels_mutex_);
  for (CompletionChannel* channel : channels_) channel->events.close();
}

void Context::add(CompletionChannel& channel) {
  const std::lock_guard lock(channels_mutex_);
  channels_.insert(&channel);
  if (dead()) channel.events.close();
}

void Context::remove(CompletionChannel& channel) {
  const std::lock_guard lock(channels_mutex_);
  channels_.erase(&channel);
}

void Context::strike() {
  const auto strike = faults_->strike(Fault::kAsyncEvent);
  if (!strike) return;
  constexpr std::array kEvents{IBV_EVENT_PORT_ACTIVE, IBV_EVENT_PORT_ERR,
                               IBV_EVENT_GID_CHANGE,  IBV_EVENT_LID_CHANGE,
                               IBV_EVENT_PKEY_CHANGE, IBV_EVENT_CLIENT_REREGISTER};
  ibv_async_event event{};
  event.event_type = kEvents[strike->random % kEvents.size()];
  event.element.port_num = 1;
  faults_->log(Fault::kAsyncEvent, std::to_string(event.event_type));
  async_events_.push(event);
}

}  // namespace softverbs

using softverbs::Context;

SOFTVERBS_EXPORT ibv_context* ibv_open_device(ibv_device* device) {
  if (softverbs::Device::from(device)->removed.load()) {
    errno = ENODEV;
    return nullptr;
  }
  try {
    return (new Context(*softverbs::Device::from(device), softverbs::Process::current()))->base();
  } catch (const std::system_error& error) {
    errno = error.code().value();
    return nullptr;
  }
}

SOFTVERBS_EXPORT int ibv_close_device(ibv_context* context) {
  Context::from(context)->process().leave(*Context::from(context));
  // With objects still in it the context stays in memory, but nobody reaches those objects.
  if (Context::from(context)->process().abandon(context)) delete Context::from(context);
  return 0;
}

SOFTVERBS_EXPORT ibv_context* ibv_import_device(int) {
  errno = EOPNOTSUPP;
  return nullptr;
}

SOFTVERBS_EXPORT int ibv_get_async_event(ibv_context* base, ibv_async_event* event) {
  return Context::from(base)->async_events().take(*event, [](const ibv_async_event& taken) {
    if (taken.event_type == IBV_EVENT_CQ_ERR) {
      ++softverbs::CompletionQueue::from(taken.element.cq)->async_delivered;
    } else if (softverbs::is_queue_pair_event(taken.event_type)) {
      ++softverbs::QueuePair::from(taken.element.qp)->async_delivered;
    }
  });
}

SOFTVERBS_EXPORT void ibv_ack_async_event(ibv_async_event* event) {
  const auto acknowledge = [](auto* object, uint32_t& completed) {
    pthread_mutex_lock(&object->mutex);
    ++completed;
    pthread_cond_signal(&object->cond);
    pthread_mutex_unlock(&object->mutex);
  };
  if (event->event_type == IBV_EVENT_CQ_ERR) {
    acknowledge(event->element.cq, event->element.cq->async_events_completed);
  } else if (softverbs::is_queue_pair_event(event->event_type)) {
    acknowledge(event->element.qp, event->element.qp->events_completed);
  }
}
