#include "common/cm/tcp/tcp_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <asio/error.hpp>
#include <cerrno>
#include <utility>

#include "common/cm/peer_gone.h"
#include "common/cm/tcp/addresses.h"
#include "common/cm/tcp/place_choice.h"
#include "common/cm/tcp/transitions.h"
#include "common/error.h"
#include "common/random.h"
#include "common/verbs/context.h"

namespace rdmablk::cm::tcp {
namespace {

using Kind = Conversation::Received::Kind;

/// How long a peer that was accepted may take to say that it is ready.
constexpr std::chrono::seconds kReadyPatience{10};

std::uint8_t clamp_depth(int value) {
  return static_cast<std::uint8_t>(std::clamp(value, 1, static_cast<int>(kMaxReadDepth)));
}

/// Old packets of an earlier connection must not fit.
std::uint32_t random_packet_number() {
  const auto bytes = random_bytes<std::array<std::byte, 3>>();
  std::uint32_t number = 0;
  for (const std::byte byte : bytes) number = number << 8U | std::to_integer<std::uint32_t>(byte);
  return number;
}

std::vector<std::byte> copy_of(std::span<const std::byte> bytes) {
  return {bytes.begin(), bytes.end()};
}

}  // namespace

TcpConnection::TcpConnection(asio::io_context& io, const Devices& devices, const Settings& settings,
                             const SocketAddress& peer, EventHandler& handler)
    : devices_(&devices),
      settings_(settings),
      conversation_(std::make_unique<Conversation>(asio::ip::tcp::socket(io))),
      peer_(peer),
      handler_(&handler),
      state_(State::looking),
      patience_(io) {
  conversation_->start(to_endpoint(peer), lifetime_.guard([this](const asio::error_code& error) {
    on_connected(error);
  }));
}

TcpConnection::TcpConnection(std::unique_ptr<Conversation> conversation, const Settings& settings,
                             ReachGuard& guard, const Request& request, const PortPlace& place)
    : settings_(settings),
      guard_(&guard),
      conversation_(std::move(conversation)),
      peer_(to_address(conversation_->remote())),
      state_(State::requested),
      place_(place),
      peer_endpoint_(request.from),
      patience_(conversation_->socket().get_executor()) {
  read();  // nothing is to come yet, but its end
}

TcpConnection::~TcpConnection() {
  destroy_queue_pair();
}

void TcpConnection::destroy_queue_pair() noexcept {
  const std::lock_guard lock(qp_mutex_);
  qp_.reset();
}

void TcpConnection::on_connected(const asio::error_code& error) {
  if (error == asio::error::connection_refused) {
    state_ = State::over;
    return tell({EventType::rejected, 0, Refusal::no_listener});
  }
  if (error) return fail(error.value());
  const SocketAddress local = to_address(conversation_->local());
  auto choice = choose_place(find_places(devices_->get(), settings_), settings_,
                             {.local = &local, .remote = &peer_, .peer = nullptr});
  if (!choice.place) return fail(ENODEV, choice.why);
  place_ = *choice.place;
  tell({EventType::resolved});
}

verbs::QueuePair& TcpConnection::create_queue_pair(const verbs::ProtectionDomain& pd,
                                                   const verbs::CompletionQueue& cq,
                                                   const verbs::QueuePairOptions& options) {
  const bool is_accepting_end = devices_ == nullptr;
  if (is_accepting_end && state_ != State::requested) throw PeerGone(peer());
  verbs::QueuePair& qp = qp_.emplace(verbs::make_queue_pair(pd, cq, options));
  // The connecting end lends nothing.
  initialize(qp, place_, settings_,
             is_accepting_end ? IBV_ACCESS_REMOTE_READ | IBV_ACCESS_REMOTE_WRITE : 0);
  return qp;
}

Endpoint TcpConnection::own_endpoint() {
  const ibv_device_attr limits = verbs::query_device(device());
  Endpoint own = place_.endpoint();
  own.queue_pair = qp_->get()->qp_num;
  own.packet = random_packet_number();
  // The accepting end never READs; some devices want room for one all the same.
  const bool is_accepting_end = devices_ == nullptr;
  own.initiator_depth = is_accepting_end ? 1 : clamp_depth(limits.max_qp_init_rd_atom);
  own.responder_depth = is_accepting_end ? clamp_depth(limits.max_qp_rd_atom) : 1;
  return own;
}

void TcpConnection::connect(std::span<const std::byte> private_data) {
  own_ = own_endpoint();
  state_ = State::requesting;
  if (!conversation_->send(encode(Request{own_, copy_of(private_data)}))) {
    throw SystemError(fmt::format("connect to {}", peer()), ECONNRESET);
  }
  read();
}

void TcpConnection::accept(EventHandler& handler) {
  handler_ = &handler;
  if (state_ != State::requested) throw PeerGone(peer());
  own_ = own_endpoint();
  find_peer();
  state_ = State::accepting;
  if (!conversation_->send(encode(Accept{own_}))) throw PeerGone(peer());
  start_patience();
}

/// Makes the queue pair ready. When that fails, it is the peer who has to know why.
void TcpConnection::find_peer() {
  const auto start = ReachGuard::Clock::now();
  const auto note = [&](bool found) {
    guard_->note(peer_endpoint_.gid, ReachGuard::Clock::now() - start, found);
  };
  try {
    tcp::connect(*qp_, place_, settings_, own_, peer_endpoint_);
    note(true);
  } catch (const Error& error) {
    note(false);
    state_ = State::over;
    const std::string_view why = error.what();
    const auto text = std::as_bytes(std::span(why));
    conversation_->send(encode(Reject{Reject::By::connection, copy_of(text)}));
    conversation_->shut_down();
    throw;
  }
}

void TcpConnection::start_patience() {
  patience_.expires_after(kReadyPatience);
  patience_.async_wait(lifetime_.guard([this](const asio::error_code& error) {
    if (!error && state_ == State::accepting) fail(ETIMEDOUT);
  }));
}

void TcpConnection::reject(std::span<const std::byte> data) noexcept {
  if (state_ != State::requested) return;
  state_ = State::over;
  try {
    conversation_->send(encode(Reject{Reject::By::program, copy_of(data)}));
  } catch (const std::bad_alloc&) {  // then without a word
  }
  conversation_->shut_down();
}

void TcpConnection::disconnect() noexcept {
  {
    const std::lock_guard lock(qp_mutex_);
    if (qp_) qp_->fail();
  }
  conversation_->shut_down();
}

void TcpConnection::read() {
  conversation_->read([this](const Conversation::Received& received) { on_received(received); });
}

void TcpConnection::on_received(const Conversation::Received& received) {
  switch (state_) {
    case State::requesting:
      return on_answer(received);
    case State::accepting:
      return on_ready(received);
    case State::requested:  // it gave up, or says what is not to be said: accept() will find it out
      state_ = State::over;
      return;
    case State::connected:
      return lose();
    case State::looking:
    case State::over:
      return;
  }
}

void TcpConnection::on_answer(const Conversation::Received& received) {
  if (received.kind == Kind::ended) {
    state_ = State::over;
    return tell({EventType::rejected, 0, Refusal::by_peer});
  }
  if (received.kind == Kind::message && received.header.type == MessageType::reject) {
    if (const auto reject = decode_reject(received.body)) {
      state_ = State::over;
      if (reject->by == Reject::By::program) {
        return tell({EventType::rejected, 0, Refusal::by_peer, reject->data});
      }
      const std::string why = reject->text();
      return tell({.type = EventType::rejected, .refusal = Refusal::other, .why = why});
    }
  }
  const bool is_accept =
      received.kind == Kind::message && received.header.type == MessageType::accept;
  const auto accept = is_accept ? decode_accept(received.body) : std::nullopt;
  if (!accept) {
    return fail(EPROTO,
                "what answers on this port is no rdmablk-target with --cm tcp, or one of "
                "another version");
  }
  try {
    const std::lock_guard lock(qp_mutex_);
    if (!qp_) return;  // this end has given it up
    tcp::connect(*qp_, place_, settings_, own_, accept->from);
  } catch (const SystemError& error) {
    return fail(error.error(), error.what());
  } catch (const Error& error) {
    return fail(ENODEV, error.what());
  }
  if (!conversation_->send(encode(Ready{}))) return fail(ECONNRESET);
  state_ = State::connected;
  read();
  tell({EventType::established});
}

void TcpConnection::on_ready(const Conversation::Received& received) {
  const bool is_ready = received.kind == Kind::message &&
                        received.header.type == MessageType::ready &&
                        decode_ready(received.body).has_value();
  if (!is_ready) return fail(received.kind == Kind::ended ? ECONNRESET : EPROTO);
  patience_.cancel();
  state_ = State::connected;
  read();
  tell({EventType::established});
}

/// May destroy this.
void TcpConnection::tell(const Event& event) {
  if (handler_ != nullptr) handler_->on_event(*this, event);
}

void TcpConnection::fail(int error, std::string_view why) {
  state_ = State::over;
  disconnect();
  const std::string text(why);
  tell({.type = EventType::failed, .error = error, .why = text});
}

bool TcpConnection::is_in_error() noexcept {
  const std::lock_guard lock(qp_mutex_);
  return qp_ && qp_->state() == IBV_QPS_ERR;
}

void TcpConnection::lose() {
  state_ = State::over;
  Event event{EventType::disconnected};
  event.in_error = is_in_error();
  // Outstanding work completes in error only once the queue pair is in the error state.
  disconnect();
  tell(event);
}

}  // namespace rdmablk::cm::tcp
