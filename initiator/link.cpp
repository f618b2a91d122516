#include "initiator/link.h"

#include <fmt/format.h>

#include "common/known_error.h"
#include "common/protocol/private_data.h"
#include "initiator/reach_hint.h"

namespace rdmablk::initiator {
namespace {

constexpr const char* kNoListener =
    "nothing listens on this port; is rdmablk-target running there, with the same --cm?";

/// No address to connect from: soft-iWARP takes a moment to have those of lost connections back.
bool is_passing(int error) {
  return error == EADDRNOTAVAIL;
}

/// Nobody answers there, or the network does not know of it.
bool is_silence(int error) {
  return error == ETIMEDOUT || error == EHOSTUNREACH || error == ENETUNREACH;
}

bool is_passing(protocol::Status status) {
  return status == protocol::Status::limit || status == protocol::Status::stale;
}

}  // namespace

Link::Link(ControlLoop& loop, const SocketAddress& peer, ControlLoop::Clock::time_point deadline)
    : loop_(loop), peer_(peer) {
  try {
    connection_ = loop.connections().open(peer, *this);
  } catch (const SystemError& error) {
    ConnectError failure(error.what(), is_passing(error.error()));
    failure.set_obstacle(Obstacle::no_way);
    throw failure;
  } catch (const KnownError& error) {
    throw ConnectError(error.what(), Obstacle::no_way);
  }
  wait_for(State::resolved, deadline);
}

Link::~Link() {
  if (on_destroyed_) on_destroyed_();
}

verbs::QueuePair& Link::create_queue_pair(const verbs::ProtectionDomain& pd,
                                          const verbs::CompletionQueue& cq,
                                          const verbs::QueuePairOptions& options) {
  return connection_->create_queue_pair(pd, cq, options);
}

void Link::connect(std::span<const std::byte> private_data,
                   ControlLoop::Clock::time_point deadline) {
  state_ = State::working;
  try {
    connection_->connect(private_data);
  } catch (const SystemError& error) {
    // Soft-iWARP refuses on the spot.
    failure_is_passing_ = is_passing(error.error());
    const bool nobody_listens = error.error() == ECONNREFUSED;
    if (nobody_listens) obstacle_ = Obstacle::no_listener;
    fail(nobody_listens ? kNoListener : errno_text(error.error()));
  }
  wait_for(State::established, deadline);
}

void Link::wait_for(State wanted, ControlLoop::Clock::time_point deadline) {
  const bool in_time =
      loop_.run_until(deadline, [&] { return state_ == wanted || state_ == State::failed; });
  if (!in_time) {
    throw ConnectError(fmt::format("cannot connect to {}: no answer in time; {}", peer_.text(),
                                   reach_hint(peer_, loop_.method())),
                       wanted == State::resolved ? Obstacle::no_way : Obstacle::no_answer);
  }
  if (state_ == State::failed) {
    ConnectError failure(fmt::format("cannot connect to {}: {}", peer_.text(), failure_),
                         failure_is_passing_, refusal_);
    failure.set_obstacle(obstacle_);
    throw failure;
  }
}

void Link::fail(std::string reason) {
  if (lost_) return;  // another thread may be reading why
  failure_ = std::move(reason);
  state_ = State::failed;
}

bool Link::take_loss() noexcept {
  if (loss_taken_ || !lost_.load()) return false;
  // Not signalled yet: the next call takes it, so that the descriptor does not stay readable.
  if (lost_event_.take() == 0) return false;
  loss_taken_ = true;
  return true;
}

void Link::lose() {
  if (lost_.exchange(true)) return;
  lost_event_.signal();
  if (on_lost_) on_lost_();
}

void Link::end(const std::string& why) {
  fail(why);
  disconnect();
  lose();
}

/// Says why the peer refused.
void Link::refuse(const cm::Event& event) {
  obstacle_ = event.refusal == cm::Refusal::no_listener ? Obstacle::no_listener : Obstacle::refusal;
  switch (event.refusal) {
    case cm::Refusal::no_listener:
      return fail(kNoListener);
    case cm::Refusal::by_peer:
      if (const auto refusal = protocol::QueueRefusal::decode(event.data)) {
        refusal_ = refusal->status;
        failure_is_passing_ = is_passing(refusal->status);
        return fail(fmt::format("the target refused: {}",
                                refusal->text.empty() ? protocol::status_text(refusal->status)
                                                      : refusal->text.c_str()));
      }
      return fail("the program that listens on this port refused; is it rdmablk-target?");
    case cm::Refusal::stale:
      failure_is_passing_ = true;
      return fail("the target remembers an older connection; try again");
    case cm::Refusal::other:
      return fail(event.why.empty() ? "the connection was refused"
                                    : fmt::format("the target: {}", event.why));
  }
}

/// Says why the peer was not reached.
void Link::fail(const cm::Event& event) {
  if (!event.why.empty()) {
    obstacle_ = has_way_ ? Obstacle::other : Obstacle::no_way;
    return fail(std::string(event.why));
  }
  if (event.error == ENODEV) {
    obstacle_ = Obstacle::no_way;
    return fail(
        "no RDMA device of this host leads there; give the target's address in the network of "
        "one, also where it is on the same host (`rdma link` shows their interfaces)");
  }
  if (event.error == EXDEV) {
    obstacle_ = Obstacle::no_way;
    return fail(
        "the way there leads over another RDMA device than the one that was asked for, which has "
        "the same address; `rdmablk devices` shows them");
  }
  obstacle_ = has_way_ ? Obstacle::no_answer : Obstacle::no_way;
  if (!is_silence(event.error)) return fail(errno_text(event.error));
  fail(fmt::format("{}; {}", errno_text(event.error), reach_hint(peer_, loop_.method())));
}

void Link::on_event(cm::Connection& /*connection*/, const cm::Event& event) {
  switch (event.type) {
    case cm::EventType::resolved:
      state_ = State::resolved;
      has_way_ = true;
      return;
    case cm::EventType::established:
      state_ = State::established;
      return;
    case cm::EventType::rejected:
      return refuse(event);
    case cm::EventType::failed:
      failure_is_passing_ = is_passing(event.error);
      return fail(event);
    case cm::EventType::disconnected:
      if (!lost_) closed_by_peer_ = !event.in_error;
      fail("the target closed the connection");
      return lose();
    case cm::EventType::device_removed:
      connection_->disconnect();
      fail("the RDMA device was removed");
      return lose();
  }
}

}  // namespace rdmablk::initiator
