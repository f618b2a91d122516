#include "common/cm/rdmacm_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>

#include "common/cm/peer_gone.h"
#include "common/error.h"
#include "common/verbs/context.h"

namespace rdmablk::cm {
namespace {

/// How long the kernel may take to find a route, in milliseconds. The caller's own timer is
/// shorter.
constexpr int kRouteTimeoutMs = 5000;

/// The same for the neighbour's address. The kernel misses an answer that comes while it prepares
/// to wait for it (rdma_resolve_ip(), Linux 6.12), and has it when it is asked again.
constexpr int kAddressTimeoutMs = 500;
constexpr unsigned kAddressAttempts = 10;

/// Retries when the peer had posted no receive. Ours always have; 7 would mean for ever.
constexpr std::uint8_t kReceiverNotReadyRetries = 6;

/// Why InfiniBand's CM rejects (the specification's table "REJ Message Reason"); the kernel passes
/// the number on as the status of the event, iWARP a negative errno.
constexpr int kRejectStale = 10;
constexpr int kRejectNoListener = 8;
constexpr int kRejectConsumer = 28;

int error_of(const RdmacmEvent& event) {
  return event.status < 0 ? -event.status : EHOSTUNREACH;
}

Refusal refusal_of(const RdmacmEvent& event) {
  switch (event.status) {
    case kRejectConsumer:
      return Refusal::by_peer;
    case kRejectStale:
      return Refusal::stale;
    case kRejectNoListener:
      return Refusal::no_listener;
    // On iWARP some devices say the one and some the other when the peer has refused; that has a
    // word to say, as what else they stand for has not: nobody listens, the peer broke off.
    case -ECONNREFUSED:
      return event.data.empty() ? Refusal::no_listener : Refusal::by_peer;
    case -ECONNRESET:
      return event.data.empty() ? Refusal::other : Refusal::by_peer;
    default:
      return Refusal::other;
  }
}

std::uint8_t clamp_depth(int value) {
  return static_cast<std::uint8_t>(std::clamp(value, 1, static_cast<int>(kMaxReadDepth)));
}

}  // namespace

RdmacmConnection::RdmacmConnection(asio::io_context& io, CmId id, IdDisposal& disposal,
                                   const Settings& settings, std::optional<SocketAddress> source,
                                   const SocketAddress& peer, EventHandler& handler)
    : io_(&io),
      id_(std::move(id)),
      disposal_(disposal),
      settings_(settings),
      source_(source),
      handler_(&handler),
      nudge_(io) {
  id_->context = static_cast<CmIdOwner*>(this);
  set_traffic_class();
  if (!resolve_address(peer)) {
    throw SystemError(fmt::format("look for an RDMA device that leads to {}", peer.text()), errno);
  }
}

RdmacmConnection::RdmacmConnection(CmId id, IdDisposal& disposal, const Settings& settings,
                                   std::uint8_t peer_read_depth)
    : id_(std::move(id)),
      disposal_(disposal),
      settings_(settings),
      peer_read_depth_(peer_read_depth),
      is_request_(true) {
  id_->context = static_cast<CmIdOwner*>(this);
}

RdmacmConnection::~RdmacmConnection() {
  destroy_queue_pair();
  disposal_.take(std::move(id_));
}

void RdmacmConnection::destroy_queue_pair() noexcept {
  connecting_.reset();
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
  if (!takes_nudges(options)) nudge_.reset();
  verbs::QueuePairOptions wanted = options;
  if (nudge_) wanted.send_requests += Nudge::kMost;
  ibv_qp_init_attr attributes = verbs::reliable_connection(cq, wanted);
  const auto create = [&] { return rdma_create_qp(id_.get(), pd.get(), &attributes) == 0; };
  bool created = create();
  if (!created && options.inline_bytes > 0) {
    // No device says beforehand how much it takes; none is needed.
    attributes = verbs::reliable_connection(cq, wanted);
    attributes.cap.max_inline_data = 0;
    created = create();
  }
  if (!created) {
    const int error = errno;
    fail(fmt::format("create a queue pair of {} send and {} receive work requests on {}, which "
                     "takes {} of each",
                     wanted.send_requests, wanted.receive_requests, verbs::device_name(device()),
                     verbs::query_device(device()).max_qp_wr),
         error);
  }
  return qp_.emplace(id_->qp, attributes.cap.max_inline_data);
}

rdma_conn_param RdmacmConnection::parameters(std::span<const std::byte> private_data) const {
  rdma_conn_param result{};
  result.private_data = private_data.data();
  result.private_data_len = static_cast<std::uint8_t>(private_data.size());
  result.retry_count = settings_.retries;
  result.rnr_retry_count = kReceiverNotReadyRetries;
  return result;
}

/// A hint to the network, which soft-iWARP does not take.
void RdmacmConnection::set_traffic_class() {
  if (!settings_.traffic_class) return;
  std::uint8_t traffic_class = *settings_.traffic_class;
  rdma_set_option(id_.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_TOS, &traffic_class,
                  sizeof traffic_class);
}

/// Throws SystemError when the port is down.
void RdmacmConnection::require_port(const std::string& doing) const {
  if (is_port_down(*id_)) throw SystemError(doing, ENETDOWN);
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
  const std::string doing = fmt::format("connect to {}", peer());
  require_port(doing);
  rdma_conn_param param = parameters(private_data);
  const ibv_device_attr limits = verbs::query_device(device());
  param.initiator_depth = clamp_depth(limits.max_qp_init_rd_atom);
  // The peer never READs from us; some devices want room for one all the same.
  param.responder_resources = 1;
  if (verbs::is_soft_iwarp(device())) {
    connecting_.emplace(*io_, *id_, param, private_data, [this](int error) {
      connecting_.reset();
      if (error != 0) on_connect_failed(error);
    });
    return;
  }
  if (rdma_connect(id_.get(), &param) != 0) {
    throw SystemError(doing, errno);
  }
}

/// Soft-iWARP refuses on the spot.
void RdmacmConnection::on_connect_failed(int error) {
  if (error == ECONNREFUSED) return tell_refusal(Refusal::no_listener, {});
  tell(EventType::failed, error);
}

void RdmacmConnection::accept(EventHandler& handler) {
  handler_ = &handler;
  const std::string doing = fmt::format("accept the connection of {}", peer());
  require_port(doing);
  rdma_conn_param param = parameters({});
  const ibv_device_attr limits = verbs::query_device(device());
  param.responder_resources = std::min(clamp_depth(limits.max_qp_rd_atom), peer_read_depth_);
  param.initiator_depth = 1;
  if (rdma_accept(id_.get(), &param) != 0) {
    fail(doing, errno);
  }
  is_request_ = false;
}

void RdmacmConnection::reject(std::span<const std::byte> data) noexcept {
  if (is_port_down(*id_)) return;
  rdma_reject(id_.get(), data.data(), static_cast<std::uint8_t>(data.size()));
}

void RdmacmConnection::disconnect() noexcept {
  connecting_.reset();
  const std::lock_guard lock(qp_mutex_);
  if (is_port_down(*id_)) {
    if (qp_) qp_->fail();
    return;
  }
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

/// @return whether it has begun; errno says why not.
bool RdmacmConnection::resolve_address(SocketAddress peer) {
  ++address_attempts_;
  SocketAddress source = source_.value_or(SocketAddress());
  return rdma_resolve_addr(id_.get(), source_ ? source.get() : nullptr, peer.get(),
                           kAddressTimeoutMs) == 0;
}

void RdmacmConnection::on_address_error(int error) {
  if (error == ETIMEDOUT && address_attempts_ < kAddressAttempts &&
      resolve_address(SocketAddress(*rdma_get_peer_addr(id_.get())))) {
    return;
  }
  tell(EventType::failed, error);
}

/// Two devices may share a network interface, and so an address; rdma_cm takes either.
bool RdmacmConnection::is_over_wanted_device() const {
  const bool is_port = !settings_.port || *settings_.port == id_->port_num;
  return is_port &&
         (settings_.device.empty() || verbs::device_name(id_->verbs) == settings_.device);
}

void RdmacmConnection::resolve_route() {
  if (!is_over_wanted_device()) return tell(EventType::failed, EXDEV);
  // Of use on InfiniBand and RoCE only, and only from Linux 5.1 on: refusal is no failure.
  std::uint8_t timeout = settings_.ack_timeout;
  rdma_set_option(id_.get(), RDMA_OPTION_ID, RDMA_OPTION_ID_ACK_TIMEOUT, &timeout, sizeof timeout);
  if (rdma_resolve_route(id_.get(), kRouteTimeoutMs) != 0) tell(EventType::failed, errno);
}

/// A queue pair that leaves no room does without.
bool RdmacmConnection::takes_nudges(const verbs::QueuePairOptions& options) const {
  if (!verbs::is_iwarp(device())) return false;
  const auto most = static_cast<unsigned>(std::max(verbs::query_device(device()).max_qp_wr, 0));
  return options.send_requests <= most && most - options.send_requests >= Nudge::kMost;
}

/// It may fail, as the other end may have gone; whoever uses the queue pair hears of that.
void RdmacmConnection::nudge() noexcept {
  const std::lock_guard lock(qp_mutex_);
  if (!qp_) return;
  ibv_send_wr work{};
  work.wr_id = Nudge::kWorkId;
  work.opcode = IBV_WR_RDMA_WRITE;
  ibv_send_wr* unposted = nullptr;
  qp_->post_send(work, unposted);
}

void RdmacmConnection::establish() {
  established_ = true;
  connecting_.reset();  // from here on others may use the queue pair
  if (nudge_) nudge_->start([this] { nudge(); });
  tell(EventType::established);
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
      return establish();
    case RDMA_CM_EVENT_REJECTED:
      // So ends a connection whose peer closed it before it had heard that it is established.
      if (established_) return lose();
      return tell_refusal(refusal_of(event), event.data);
    case RDMA_CM_EVENT_ADDR_ERROR:
      return on_address_error(error_of(event));
    case RDMA_CM_EVENT_ROUTE_ERROR:
    case RDMA_CM_EVENT_UNREACHABLE:
    case RDMA_CM_EVENT_CONNECT_ERROR:
      return tell(EventType::failed, error_of(event));
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
