#include "common/softverbs/cm/link.h"

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>

#include "common/softverbs/faults/fault_injector.h"

namespace softverbs::cm {
namespace {

void post_rejected(Id& id, int reason, const Message* reject) {
  id.stop_timer();
  id.link = LinkState::kNone;
  auto event = std::make_unique<Event>(RDMA_CM_EVENT_REJECTED, id, id, reason);
  const Message empty;
  const Message& shown = reject != nullptr ? *reject : empty;
  event->set_connection(shown, id.iwarp() ? shown.private_data_size : kRejectPrivateData);
  id.post(std::move(event));
}

void post_disconnected(Id& id, int status) {
  if (id.state != IdState::kConnect) return;
  id.state = IdState::kDisconnected;
  id.post(RDMA_CM_EVENT_DISCONNECTED, status);
}

void enter_timewait(Id& id) {
  id.link = LinkState::kTimewait;
  id.start_timer(kTimewait, [](Id& self) {
    self.link = LinkState::kNone;
    if (self.state == IdState::kDisconnected) self.post(RDMA_CM_EVENT_TIMEWAIT_EXIT);
  });
}

void give_up(Id& id) {
  if (id.link == LinkState::kDisconnectSent) {
    post_disconnected(id, -ETIMEDOUT);
    enter_timewait(id);
    return;
  }
  id.link = LinkState::kNone;
  id.unwatch_socket();
  id.post(RDMA_CM_EVENT_UNREACHABLE, -ETIMEDOUT);
}

void transmit(const Id& id, const Message& message) {
  if (!id.is_cut_off()) send_message(id.socket.get(), message);
}

void send(const Id& id, MessageKind kind) {
  Message message;
  message.kind = kind;
  transmit(id, message);
}

void on_reply(Id& id, const Message& reply) {
  if (id.link != LinkState::kRequestSent) return;
  id.stop_timer();
  id.link = LinkState::kReplyReceived;
  learn_peer(id, reply);
  auto event = std::make_unique<Event>(RDMA_CM_EVENT_CONNECT_RESPONSE, id, id);
  event->set_connection(reply, id.iwarp() ? reply.private_data_size : kReplyPrivateData);
  id.post(std::move(event));
}

void on_ready_to_use(Id& id) {
  if (id.link != LinkState::kReplySent) return;
  id.stop_timer();
  id.link = LinkState::kEstablished;
  id.post(RDMA_CM_EVENT_ESTABLISHED);
}

bool can_be_rejected(LinkState link) {
  return link == LinkState::kRequestSent || link == LinkState::kReplyReceived ||
         link == LinkState::kRequestReceived || link == LinkState::kReplySent;
}

void on_reject(Id& id, const Message& reject) {
  if (can_be_rejected(id.link)) post_rejected(id, reject.reason, &reject);
}

void on_disconnect(Id& id) {
  if (id.link != LinkState::kEstablished && id.link != LinkState::kReplySent &&
      id.link != LinkState::kDisconnectSent) {
    return;
  }
  id.stop_timer();
  id.link = id.iwarp() ? LinkState::kNone : LinkState::kDisconnectReceived;
  post_disconnected(id, 0);
}

void on_disconnected(Id& id) {
  if (id.link != LinkState::kDisconnectSent && id.link != LinkState::kDisconnectReceived) return;
  post_disconnected(id, 0);
  enter_timewait(id);
}

void handle(Id& id, const Message& message) {
  switch (message.kind) {
    case MessageKind::kRequest:
      break;  // a connection has one, and it came first
    case MessageKind::kReply:
      on_reply(id, message);
      break;
    case MessageKind::kReadyToUse:
      on_ready_to_use(id);
      break;
    case MessageKind::kReject:
      on_reject(id, message);
      break;
    case MessageKind::kDisconnect:
      on_disconnect(id);
      break;
    case MessageKind::kDisconnected:
      on_disconnected(id);
      break;
  }
}

// The peer destroyed its id, or its process is gone. The kernel's connection manager says farewell
// for both with the message that fits the state.
void on_end(Id& id) {
  switch (id.link) {
    case LinkState::kRequestReceived:
      // On iWARP nobody tells; rdma_accept finds out.
      if (!id.iwarp()) post_rejected(id, kRejectTimeout, nullptr);
      break;
    case LinkState::kRequestSent:
    case LinkState::kReplyReceived:
    case LinkState::kReplySent:
      post_rejected(id, id.iwarp() ? -ECONNRESET : kRejectConsumerDefined, nullptr);
      break;
    case LinkState::kEstablished:
      on_disconnect(id);
      break;
    case LinkState::kDisconnectSent:
      on_disconnected(id);
      break;
    case LinkState::kNone:
    case LinkState::kDisconnectReceived:
    case LinkState::kTimewait:
      break;
  }
}

/// The event that a message causes, if it can be lost.
std::optional<CmEvent> event_of(MessageKind kind) {
  switch (kind) {
    case MessageKind::kRequest:
      return CmEvent::kConnectRequest;
    case MessageKind::kReply:
      return CmEvent::kConnectResponse;
    case MessageKind::kReadyToUse:
      return CmEvent::kEstablished;
    case MessageKind::kReject:
      return CmEvent::kRejected;
    case MessageKind::kDisconnect:
    case MessageKind::kDisconnected:
      return CmEvent::kDisconnected;
  }
  return std::nullopt;
}

/// Likewise for the farewell of a peer that is gone.
std::optional<CmEvent> event_of_end(LinkState link) {
  switch (link) {
    case LinkState::kRequestReceived:
    case LinkState::kRequestSent:
    case LinkState::kReplyReceived:
    case LinkState::kReplySent:
      return CmEvent::kRejected;
    case LinkState::kEstablished:
    case LinkState::kDisconnectSent:
      return CmEvent::kDisconnected;
    default:
      return std::nullopt;
  }
}

void on_readable(Id& id) {
  for (;;) {
    Message message;
    switch (receive_message(id.socket.get(), message)) {
      case ReceiveResult::kMessage:
        if (!is_lost(event_of(message.kind)) && !id.is_cut_off()) handle(id, message);
        break;
      case ReceiveResult::kNothing:
        return;
      case ReceiveResult::kEnd:
        id.unwatch_socket();
        id.peer_gone = true;
        if (!is_lost(event_of_end(id.link)) && !id.is_cut_off()) on_end(id);
        return;
    }
  }
}

void connect_and_send(Id& id, const Message& request) {
  if (id.link != LinkState::kRequestSent || id.is_cut_off()) return;
  const int error = connect_to_port(id.socket.get(), id.ps, *id.destination);
  if (error == -ECONNREFUSED) {
    post_rejected(id, id.iwarp() ? -ECONNREFUSED : kRejectInvalidServiceId, nullptr);
    return;
  }
  if (error == 0) {
    try {
      watch_link(id);
      send_message(id.socket.get(), request);
      return;
    } catch (const std::system_error&) {
      // No watch can be had: the same to the caller as a peer out of reach.
    }
  }
  id.link = LinkState::kNone;
  id.stop_timer();
  id.post(RDMA_CM_EVENT_UNREACHABLE, error == 0 ? -ENOMEM : error);
}

}  // namespace

bool is_lost(std::optional<CmEvent> event) {
  FaultInjector* const faults = FaultInjector::get();
  if (faults == nullptr || !event || !faults->strike(*event)) return false;
  faults->log(Fault::kCmLost, name_of(*event));
  return true;
}

ProgressThread::Clock::duration answer_timeout() {
  FaultInjector* const faults = FaultInjector::get();
  return faults == nullptr ? kAnswerTimeout : faults->cm_timeout();
}

void send_request(Id& id, const Message& request) {
  id.start_timer(answer_timeout(), give_up);
  id.later([request](Id& self) { connect_and_send(self, request); });
}

void learn_peer(Id& id, const Message& message) {
  LinkAttributes& link = id.attributes;
  link.remote_psn = message.starting_psn;
  link.remote_qp_num = message.qp_num;
  link.remote_gid = message.gid;
  link.mtu = std::min(static_cast<uint8_t>(id.device->mtu), message.mtu);
  link.responder_resources = message.initiator_depth;
  link.initiator_depth = message.responder_resources;
  link.rnr_retry_count = message.rnr_retry_count;
  if (message.kind == MessageKind::kRequest) link.retry_count = message.retry_count;
}

void watch_link(Id& id) {
  id.watch_socket(on_readable);
}

int send_reply(Id& id, const Message& reply) {
  if (id.link != LinkState::kRequestReceived) return -EINVAL;
  if (id.peer_gone) return -ECONNRESET;
  id.link = LinkState::kReplySent;
  id.attributes.responder_resources = reply.responder_resources;
  id.attributes.initiator_depth = reply.initiator_depth;
  id.start_timer(answer_timeout(), give_up);
  transmit(id, reply);
  return 0;
}

int send_ready_to_use(Id& id) {
  if (id.link != LinkState::kReplyReceived) return -EINVAL;
  id.link = LinkState::kEstablished;
  send(id, MessageKind::kReadyToUse);
  return 0;
}

int send_reject(Id& id, int reason, std::span<const uint8_t> private_data) {
  if (!can_be_rejected(id.link)) return -EINVAL;
  id.stop_timer();
  id.link = LinkState::kNone;
  Message message;
  message.kind = MessageKind::kReject;
  message.reason = reason;
  set_private_data(message, private_data);
  transmit(id, message);
  return 0;
}

void disconnect(Id& id) {
  if (id.link == LinkState::kDisconnectReceived) {
    send(id, MessageKind::kDisconnected);
    enter_timewait(id);
    return;
  }
  if (id.link != LinkState::kEstablished) return;
  send(id, MessageKind::kDisconnect);
  if (id.iwarp()) {
    id.link = LinkState::kNone;
    id.later([](Id& self) { post_disconnected(self, 0); });
    return;
  }
  id.link = LinkState::kDisconnectSent;
  id.start_timer(answer_timeout(), give_up);
}

int note_established(Id& id) {
  if (id.link == LinkState::kEstablished) return -EISCONN;
  if (id.link != LinkState::kReplySent) return -EINVAL;
  id.stop_timer();
  id.link = LinkState::kEstablished;
  id.later([](Id& self) { self.post(RDMA_CM_EVENT_ESTABLISHED); });
  return 0;
}

int consumer_reject(const Id& id) {
  return id.iwarp() ? -ECONNREFUSED : kRejectConsumerDefined;
}

}  // namespace softverbs::cm
