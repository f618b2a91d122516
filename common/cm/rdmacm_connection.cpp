#include "common/cm/rdmacm_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "common/cm/peer_gone.h"
#include "common/error.h"
#include "common/verbs/context.h"

namespace rdmablk::cm {
namespace {

/// How long the kernel may take for each step of resolving, in milliseconds. The caller's own timer
/// is shorter.
constexpr int kResolveTimeoutMs = 5000;

/// How long to wait for an acknowledgement, as 4.096 us * 2^n: 0.27 s. A peer that vanished without
/// a word is noticed after kRetries of them, of which a device may make each up to four times as
/// long.
constexpr std::uint8_t kAckTimeout = 16;

/// Retries after a lost packet, the most there are (3 bits).
constexpr std::uint8_t kRetries = 7;

/// Retries when the peer had posted no receive. Ours always have; 7 would mean for ever.
constexpr std::uint8_t kReceiverNotReadyRetries = 6;

/// Why InfiniBand's CM rejects (the specification's table "REJ Message Reason"); the kernel passes
/// the number on as the status of the event, iWARP a negative errno.
constexpr int kRejectStale = 10;
constexpr int kRejectNoListener = 8;
constexpr int kRejectConsumer = 28;

Refusal refusal_of(const RdmacmEvent& event) {
  switch (event.status) {
    case kRejectConsumer:
      return Refusal::by_peer;
    case kRejectStale:
      return Refusal::stale;
    case kRejectNoListener:
    case -ECONNREFUSED:
      return Refusal::no_listener;
    case -ECONNRESET:  // iWARP's; or the peer broke off, which has no word to say
      return event.data.empty() ? Refusal::other : Refusal::by_peer;
    default:
      return Refusal::other;
  }
}

std::uint8_t clamp_depth(int value) {
  return static_cast<std::uint8_t>(std::clamp(value, 1, static_cast<int>(kMaxReadDepth)));
}

rdma_conn_param parameters(std::span<const std::byte> private_data) {
  rdma_conn_param result{};
  result.private_data = private_data.data();
  result.private_data_len = static_cast<std::uint8_t>(private_data.size());
  result.retry_count = kRetries;
  result.rnr_retry_count = kReceiverNotReadyRetries;
  return result;
}

}  // namespace

RdmacmConnection::RdmacmConnection(CmId id, const SocketAddress& peer, EventHandler& handler)
    : id_(std::move(id)), handler_(&handler) {
  id_->context = static_cast<CmIdOwner*>(this);
  SocketAddress destination = peer;
  if (rdma_resolve_addr(id_.get(), nullptr, destination.get(), kResolveTimeoutMs) != 0) {
    throw SystemError(fmt::format("look for an RDMA device that leads to {}", peer.text()), errno);
  }
}

RdmacmConnection::RdmacmConnection(CmId id, std::uint8_t peer_read_depth)
    : id_(std::move(id)), peer_read_depth_(peer_read_depth), is_request_(true) {
  id_->context = static_cast<CmIdOwner*>(this);
}

RdmacmConnection::~RdmacmConnection() {
  destroy_queue_pair();
}

void RdmacmConnection::destroy_queue_pair() noexcept {
  const std::lock_guard lock(qp_mutex_);
  // The identifier points to it without owning it.
  qp_.reset();
  id_->qp = nullptr;
}

std::string RdmacmConnection::peer() const {
  return SocketAddress(*rdma_get_peer_addr(id_.get())).text();
}

verbs::QueuePair& RdmacmConnection::create_queue_pair(const verbs::ProtectionDomain& pd,
                                                      const verbs::CompletionQueue& cq,
                                                      const verbs::QueuePairOptions& options) {
  ibv_qp_init_attr attributes = verbs::reliable_connection(cq, options);
  if (rdma_create_qp(id_.get(), pd.get(), &attributes) != 0) {
    fail(fmt::format("create a queue pair of {} send and {} receive work requests on {}",
                     options.send_requests, options.receive_requests, verbs::device_name(device())),
         errno);
  }
  return qp_.emplace(id_->qp);
}

/// Of a request that is void the kernel says EINVAL, and knows no attributes for its queue pair; on
/// iWARP it says what became of the peer.
void RdmacmConnection::fail(const std::string& doing, int error) {
  ibv_qp_attr attributes{};
  attributes.qp_state = IBV_QPS_RTR;
  int mask = 0;
  const auto is_void = [&] {
    return error == ECONNRESET || rdma_init_qp_attr(id_.get(), &attributes, &mask) != 0;
  };
  if (is_request_ && is_void()) throw PeerGone(peer());
  throw SystemError(doing, error);
}

void RdmacmConnection::connect(std::span<const std::byte> private_data) {
  rdma_conn_param param = parameters(private_data);
  const ibv_device_attr limits = verbs::query_device(device());
  param.initiator_depth = clamp_depth(limits.max_qp_init_rd_atom);
  // The peer never READs from us; some devices want room for one all the same.
  param.responder_resources = 1;
  if (rdma_connect(id_.get(), &param) != 0) {
    throw SystemError(fmt::format("connect to {}", peer()), errno);
  }
}

void RdmacmConnection::accept(EventHandler& handler) {
  handler_ = &handler;
  rdma_conn_param param = parameters({});
  const ibv_device_attr limits = verbs::query_device(device());
  param.responder_resources = std::min(clamp_depth(limits.max_qp_rd_atom), peer_read_depth_);
  param.initiator_depth = 1;
  if (rdma_accept(id_.get(), &param) != 0) {
    fail(fmt::format("accept the connection of {}", peer()), errno);
  }
  is_request_ = false;
}

void RdmacmConnection::reject(std::span<const std::byte> data) noexcept {
  rdma_reject(id_.get(), data.data(), static_cast<std::uint8_t>(data.size()));
}

void RdmacmConnection::disconnect() noexcept {
  const std::lock_guard lock(qp_mutex_);
  // Moves the queue pair to the error state first; fails when the connection is down, which is
  // well.
  rdma_disconnect(id_.get());
}

void RdmacmConnection::tell(EventType type, int error) {
  if (handler_ != nullptr) handler_->on_event(*this, Event{type, error});
}

void RdmacmConnection::tell_refusal(Refusal refusal, std::span<const std::byte> data) {
  if (handler_ != nullptr) handler_->on_event(*this, {EventType::rejected, 0, refusal, data});
}

void RdmacmConnection::resolve_route() {
  // Of use on InfiniBand and RoCE only, and only from Linux 5.1 on: refusal is no failure.
  std::uint8_t timeout = kAckTimeout;
  rdma_set_option(id_.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout);
  if (rdma_resolve_route(id_.get(), kResolveTimeoutMs) != 0) tell(EventType::failed, errno);
}

bool RdmacmConnection::is_in_error() noexcept {
  const std::lock_guard lock(qp_mutex_);
  return qp_ && qp_->state() == IBV_QPS_ERR;
}

void RdmacmConnection::lose() {
  Event event{EventType::disconnected};
  event.in_error = is_in_error();
  // Outstanding work completes in error only once the queue pair is in the error state.
  disconnect();
  if (handler_ != nullptr) handler_->on_event(*this, event);
}

void RdmacmConnection::handle(const RdmacmEvent& event) {
  switch (event.type) {
    case RDMA_CM_EVENT_ADDR_RESOLVED:
      return resolve_route();
    case RDMA_CM_EVENT_ROUTE_RESOLVED:
      return tell(EventType::resolved);
    case RDMA_CM_EVENT_ESTABLISHED:
      established_ = true;
      return tell(EventType::established);
    case RDMA_CM_EVENT_REJECTED:
      // So ends a connection whose peer closed it before it had heard that it is established.
      if (established_) return lose();
      return tell_refusal(refusal_of(event), event.data);
    case RDMA_CM_EVENT_ADDR_ERROR:
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_CONNECT_ERROR:
      return tell(EventType::failed, event.status < 0 ? -event.status : EHOSTUNREACH);
    case RDMA_CM_EVENT_ADDR_CHANGE:
    case RDMA_CM_EVENT_DISCONNECTED:
      return lose();
    case RDMA_CM_EVENT_DEVICE_REMOVAL:
      return tell(EventType::device_removed);
    default:
      return;  // TIMEWAIT_EXIT and what belongs to other kinds of connections
  }
}

}  // namespace rdmablk::cm
