#include "common/softverbs/cm/listener.h"

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "common/softverbs/cm/link.h"
#include "common/softverbs/faults/fault_injector.h"

namespace softverbs::cm {
namespace {

constexpr int kMaxBacklog = 1024;  // net.rdma_ucm.max_backlog
constexpr std::chrono::milliseconds kOutOfDescriptorsPause{100};

void on_callers(Id& listener);

std::optional<SocketAddress> to_address(const sockaddr_in6& raw) {
  return SocketAddress::from(reinterpret_cast<const sockaddr*>(&raw));
}

void refuse(int socket, int reason) {
  Message reject;
  reject.kind = MessageKind::kReject;
  reject.reason = reason;
  send_message(socket, reject);
}

/// Whether a request goes to a port that is down, or to a device that is not there.
bool goes_nowhere(const Message& request) {
  const auto destination = to_address(request.destination);
  return destination && !destination->is_wildcard() &&
         Process::get().devices.is_cut_off(*destination);
}

/// The fault cm-reject: the connection manager takes the request for one of a connection that was.
bool strikes_stale() {
  FaultInjector* const faults = FaultInjector::get();
  if (faults == nullptr || !faults->strike(Fault::kCmReject)) return false;
  faults->log(Fault::kCmReject, "");
  return true;
}

int stale_reason(const Message& request) {
  const auto destination = to_address(request.destination);
  const auto device =
      destination ? Process::get().devices.for_address(*destination) : std::shared_ptr<Device>();
  return device != nullptr && device->iwarp ? -ECONNREFUSED : kRejectStaleConnection;
}

std::unique_ptr<Id> make_request_id(Id& listener, const Message& request, FileDescriptor socket) {
  auto id = std::make_unique<Id>(*listener.home, listener.context, listener.ps);
  id->reported = false;
  id->state = IdState::kConnect;
  id->link = LinkState::kRequestReceived;
  id->set_source(*to_address(request.destination));
  id->destination = to_address(request.source);
  id->socket = std::move(socket);
  id->type_of_service = listener.type_of_service;
  id->ack_timeout = listener.ack_timeout;
  learn_peer(*id, request);
  id->responder_resources = id->attributes.responder_resources;
  id->initiator_depth = id->attributes.initiator_depth;
  return id;
}

void on_request(Id& listener, const Message& request, FileDescriptor socket) {
  const auto destination = to_address(request.destination);
  if (!to_address(request.source) || !destination || destination->is_wildcard()) return;
  if (listener.home == nullptr || listener.backlog == 0) {
    const auto device = Process::get().devices.for_address(*destination);
    refuse(socket.get(), device->iwarp ? -ECONNREFUSED : kRejectConsumerDefined);
    return;
  }
  std::unique_ptr<Id> id = make_request_id(listener, request, std::move(socket));
  watch_link(*id);
  auto event = std::make_unique<Event>(RDMA_CM_EVENT_CONNECT_REQUEST, *id, listener);
  event->listen_id = &listener;
  event->set_connection(request, id->iwarp() ? request.private_data_size : kRequestPrivateData);
  event->request = std::move(id);
  --listener.backlog;
  listener.post(std::move(event));
}

void on_caller_readable(Id& listener, int fd) {
  Message message;
  const ReceiveResult result = receive_message(fd, message);
  if (result == ReceiveResult::kNothing) return;
  // Who sent a request that was lost stays, unheard, until it has given up.
  if (result == ReceiveResult::kMessage &&
      (is_lost(CmEvent::kConnectRequest) || goes_nowhere(message))) {
    return;
  }
  auto found = listener.callers.find(fd);
  Process::get().progress.unwatch(found->second.watch, fd);
  FileDescriptor socket = std::move(found->second.socket);
  listener.callers.erase(found);
  if (result != ReceiveResult::kMessage || message.kind != MessageKind::kRequest) return;
  if (strikes_stale()) return refuse(socket.get(), stale_reason(message));
  try {
    on_request(listener, message, std::move(socket));
  } catch (const std::system_error&) {
    // The socket closes, which the caller sees as a reject.
  }
}

// A listening socket stays readable while a caller cannot be taken: look again a little later.
void pause(Id& listener) {
  listener.unwatch_socket();
  listener.start_timer(kOutOfDescriptorsPause, [](Id& self) { self.watch_socket(on_callers); });
}

void on_callers(Id& listener) {
  for (;;) {
    FileDescriptor socket(
        ::accept4(listener.socket.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
    if (!socket) {
      if (errno == EMFILE || errno == ENFILE || errno == ENOMEM) pause(listener);
      return;
    }
    const int fd = socket.get();
    try {
      Caller& caller = listener.callers[fd];
      caller.socket = std::move(socket);
      caller.watch =
          Process::get().progress.watch(fd, [&listener, fd] { on_caller_readable(listener, fd); });
    } catch (const std::system_error&) {
      listener.callers.erase(fd);
    }
  }
}

}  // namespace

int start_listening(Id& listener, int backlog) {
  const int error = listen_on_port(listener.claim, listener.socket, listener.port_mark);
  if (error != 0) return error;
  listener.backlog = backlog <= 0 || backlog > kMaxBacklog ? kMaxBacklog : backlog;
  listener.watch_socket(on_callers);
  listener.state = IdState::kListen;
  return 0;
}

void request_was_read(Id& listener) {
  ++listener.backlog;
}

}  // namespace softverbs::cm
