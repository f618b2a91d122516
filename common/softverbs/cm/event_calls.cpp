#include "common/softverbs/cm/event_calls.h"

#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <vector>

#include "common/softverbs/cm/api.h"
#include "common/softverbs/cm/link.h"
#include "common/softverbs/cm/listener.h"
#include "common/softverbs/cm/qp_attributes.h"
#include "common/softverbs/verbs/queue_pair.h"

namespace softverbs::cm {
namespace {

// Work that an event still needs when it is read is done by the reader, as in librdmacm: so queue
// pairs change in the user's threads alone. Each function says whether the event is to be shown.

bool deliver_connect_request(Event& event) {
  const Lock lock(Process::get().mutex);
  request_was_read(*event.owner);
  Id& id = *event.request;
  try {
    if (event.owner->synchronous) {
      make_synchronous(id);
      id.report(*id.own_channel);
    } else {
      id.report(*event.owner->home);
    }
  } catch (const std::system_error&) {
    event.request.reset();  // the peer is rejected
    return false;
  }
  id.publish_addresses();
  id.publish_route();
  event.request.release();  // NOLINT(bugprone-unused-return-value): the user owns it now
  return true;
}

int finish_connect(Id& id) {
  int error = 0;
  if (id.qp != nullptr) {
    QueuePair::from(id.qp)->note_asked();
    error = connect_qp(id, RDMA_MAX_RESP_RES, RDMA_MAX_INIT_DEPTH);
  }
  if (error == 0) {
    const Lock lock(Process::get().mutex);
    error = send_ready_to_use(id);
  }
  if (error != 0) fail_qp(id);
  return error;
}

bool deliver_connect_response(Event& event) {
  Id& id = *event.owner;
  if (id.qp == nullptr && !id.iwarp()) return true;
  event.status = finish_connect(id);
  event.event = event.status == 0 ? RDMA_CM_EVENT_ESTABLISHED : RDMA_CM_EVENT_CONNECT_ERROR;
  id.connect_error = event.status != 0;
  return true;
}

bool deliver(Event& event) {
  Id& id = *event.owner;
  switch (event.event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED: {
      const Lock lock(Process::get().mutex);
      id.publish_addresses();
      return true;
    }
    case RDMA_CM_EVENT_ROUTE_RESOLVED: {
      const Lock lock(Process::get().mutex);
      id.publish_route();
      return true;
    }
    case RDMA_CM_EVENT_CONNECT_REQUEST:
      return deliver_connect_request(event);
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
      return deliver_connect_response(event);
    case RDMA_CM_EVENT_REJECTED:
      if (id.connect_error) return false;
      fail_qp(id);
      return true;
    case RDMA_CM_EVENT_DISCONNECTED:
      return !id.connect_error;
    default:
      return true;
  }
}

/// Counts a thread among a channel's readers.
class Reader {
 public:
  explicit Reader(EventChannel& channel) : channel_(channel) { count(1); }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;
  ~Reader() { count(-1); }

 private:
  void count(int change) {
    const Lock lock(Process::get().mutex);
    channel_.readers += change;
  }

  EventChannel& channel_;
};

/// A thread that waits while its channel is destroyed sleeps on: in the kernel it would hold the
/// file. Programs rely on it that destroy their channel and exit.
std::unique_ptr<Event> take_event(EventChannel& channel) {
  Lock lock(Process::get().mutex);
  while (channel.abandoned()) {
    lock.unlock();
    pause();
    lock.lock();
  }
  std::unique_ptr<Event> event = channel.pop();
  if (event) ++event->owner->unacknowledged;
  return event;
}

int get_event(EventChannel& channel, rdma_cm_event** shown) {
  const Reader reader(channel);
  int error = 0;
  for (;;) {
    std::unique_ptr<Event> event = take_event(channel);
    if (!event) {
      if (error != 0) return fail(error);
      error = channel.wait();
      continue;
    }
    Event* const raw = event.release();
    if (deliver(*raw)) {
      *shown = raw;
      return 0;
    }
    acknowledge(raw);
  }
}

}  // namespace

int complete_synchronous_call(Id& id) {
  if (!id.synchronous) return 0;
  acknowledge_current_event(id);
  if (get_event(*id.own_channel, &id.event) != 0) return -1;
  const int status = id.event->status;
  if (status == 0) return 0;
  if (id.event->event == RDMA_CM_EVENT_REJECTED) return fail(ECONNREFUSED);
  return fail(status < 0 ? -status : status);
}

void acknowledge(rdma_cm_event* event) {
  Process& process = Process::get();
  const Lock lock(process.mutex);
  const std::unique_ptr<Event> owned(static_cast<Event*>(event));
  --owned->owner->unacknowledged;
  process.acknowledged.notify_all();
}

void acknowledge_current_event(Id& id) {
  if (id.event == nullptr) return;
  acknowledge(id.event);
  id.event = nullptr;
}

void make_synchronous(Id& id) {
  id.own_channel = std::make_unique<EventChannel>();
  id.channel = id.own_channel.get();
  id.home = id.own_channel.get();
  id.synchronous = true;
}

}  // namespace softverbs::cm

using namespace softverbs::cm;

SOFTVERBS_EXPORT rdma_event_channel* rdma_create_event_channel() {
  EventChannel* channel = nullptr;
  guarded([&] {
    Process::get();  // fails where there is no device
    channel = new EventChannel;
    return 0;
  });
  return channel;
}

SOFTVERBS_EXPORT void rdma_destroy_event_channel(rdma_event_channel* channel) {
  Process& process = Process::get();
  const Lock lock(process.mutex);
  std::unique_ptr<EventChannel> owned(static_cast<EventChannel*>(channel));
  // Ids that the user forgot end with their channel, as with the kernel's file.
  std::vector<Id*> forgotten;
  for (const auto& [serial, id] : process.ids) {
    if (id->home == owned.get() && id->reported) forgotten.push_back(id);
  }
  for (Id* id : forgotten) {
    id->shut_down();
    id->home = nullptr;
  }
  if (owned->readers > 0) owned.release()->abandon();
}

SOFTVERBS_EXPORT int rdma_get_cm_event(rdma_event_channel* channel, rdma_cm_event** event) {
  if (channel == nullptr || event == nullptr) return fail(EINVAL);
  return guarded([&] { return get_event(*static_cast<EventChannel*>(channel), event); });
}

SOFTVERBS_EXPORT int rdma_ack_cm_event(rdma_cm_event* event) {
  if (event == nullptr) return fail(EINVAL);
  acknowledge(event);
  return 0;
}

SOFTVERBS_EXPORT const char* rdma_event_str(rdma_cm_event_type event) {
  switch (event) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      return "RDMA_CM_EVENT_ADDR_RESOLVED";
    case RDMA_CM_EVENT_ADDR_ERROR:
      return "RDMA_CM_EVENT_ADDR_ERROR";
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      return "RDMA_CM_EVENT_ROUTE_RESOLVED";
    case RDMA_CM_EVENT_ROUTE_ERROR:
      return "RDMA_CM_EVENT_ROUTE_ERROR";
    case RDMA_CM_EVENT_CONNECT_REQUEST:
      return "RDMA_CM_EVENT_CONNECT_REQUEST";
    case RDMA_CM_EVENT_CONNECT_RESPONSE:
      return "RDMA_CM_EVENT_CONNECT_RESPONSE";
    case RDMA_CM_EVENT_CONNECT_ERROR:
      return "RDMA_CM_EVENT_CONNECT_ERROR";
    case RDMA_CM_EVENT_UNREACHABLE:
      return "RDMA_CM_EVENT_UNREACHABLE";
    case RDMA_CM_EVENT_REJECTED:
      return "RDMA_CM_EVENT_REJECTED";
    case RDMA_CM_EVENT_ESTABLISHED:
      return "RDMA_CM_EVENT_ESTABLISHED";
    case RDMA_CM_EVENT_DISCONNECTED:
      return "RDMA_CM_EVENT_DISCONNECTED";
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      return "RDMA_CM_EVENT_DEVICE_REMOVAL";
    case RDMA_CM_EVENT_MULTICAST_JOIN:
      return "RDMA_CM_EVENT_MULTICAST_JOIN";
    case RDMA_CM_EVENT_MULTICAST_ERROR:
      return "RDMA_CM_EVENT_MULTICAST_ERROR";
    case RDMA_CM_EVENT_ADDR_CHANGE:
      return "RDMA_CM_EVENT_ADDR_CHANGE";
    case RDMA_CM_EVENT_TIMEWAIT_EXIT:
      return "RDMA_CM_EVENT_TIMEWAIT_EXIT";
  }
  return "UNKNOWN EVENT";
}
