#include "target/sessions.h"

#include <fmt/format.h>

#include <algorithm>
#include <asio/post.hpp>

#include "common/counted.h"
#include "target/attachment.h"

namespace rdmablk::target {

using protocol::QueueRefusal;
using protocol::QueueRequest;
using protocol::Status;

std::optional<QueueRefusal> Sessions::open(std::unique_ptr<cm::Connection>& connection,
                                           std::shared_ptr<const TargetDevice> device) {
  const std::string host = SessionPeer{connection->peer(), {}, {}}.host();
  if (auto refusal = make_room(host)) return refusal;
  const std::uint32_t id = next_id();
  SessionOwner& owner = *this;
  auto session = std::make_unique<Session>(id, connection, std::move(device), environment_, owner);
  session->accept();
  roll_.add_handshake(id, host, session->since());
  sessions_.emplace(id, std::move(session));
  return std::nullopt;
}

/// Those who say nothing, or were refused, must not keep others out: see who_gives_way().
/// @return why there is no room for another session; nothing when there is.
std::optional<QueueRefusal> Sessions::make_room(const std::string& host) {
  const Limits& limits = environment_.limits;
  if (roll_.size() >= limits.sessions) {
    return QueueRefusal{Status::limit,
                        fmt::format("the target has {}", counted(roll_.size(), "session"))};
  }
  if (roll_.handshakes() < limits.handshakes) return std::nullopt;
  const auto now = std::chrono::steady_clock::now();
  Session* const loser = find(roll_.who_gives_way(host, limits.reticence, now));
  if (loser == nullptr) {
    return QueueRefusal{Status::limit, fmt::format("the target is setting up {}",
                                                   counted(roll_.handshakes(), "session"))};
  }
  loser->end("it has not said who it is, and others wait");
  return std::nullopt;
}

std::uint32_t Sessions::next_id() {
  do {
    ++last_id_;
  } while (last_id_ == 0 || sessions_.contains(last_id_));
  return last_id_;
}

Session* Sessions::find(std::uint32_t id) const {
  const auto found = sessions_.find(id);
  return found == sessions_.end() ? nullptr : found->second.get();
}

std::optional<QueueRefusal> Sessions::open_queue(std::unique_ptr<cm::Connection>& connection,
                                                 const QueueRequest& request) {
  Session* const session = find(session_of(request.attachment));
  return session == nullptr ? refuse_unproved() : session->connect_queue(connection, request);
}

/// The initiator may have had another session, which it has lost: that ends first, and what it has
/// begun.
void Sessions::on_session_joins(Session& session) {
  const auto resumed = roll_.resumed_by(session.peer());
  if (const auto excess = exceeds_limits(session, resumed)) {
    return session.turn_away(Status::limit, *excess);
  }
  roll_.enter(session.id(), session.peer());
  tell_size();
  const auto left = std::make_shared<std::size_t>(1);
  const auto one_less = lifetime_.guard([this, left, id = session.id()] {
    if (--*left > 0) return;
    if (Session* const joining = find(id)) joining->admit();
  });
  for (const std::uint32_t id : resumed) {
    Session* const other = find(id);
    if (other == nullptr) continue;
    ++*left;
    other->end(fmt::format("its initiator is back as session {}", session.id()));
    environment_.drain.when_fenced(other->attachments(), one_less);
  }
  one_less();
}

/// @param resumed sessions that end for this one.
/// @return why not one more session, or one more of this client's, can be; nothing when it can.
std::optional<std::string> Sessions::exceeds_limits(const Session& session,
                                                    std::span<const std::uint32_t> resumed) const {
  std::size_t others = roll_.size();
  std::size_t of_client = roll_.size_of_account(session.peer());
  for (const std::uint32_t id : resumed) {
    const Session* const other = find(id);
    if (other == nullptr || !roll_.is_in(id)) continue;
    --others;
    if (other->peer().shares_account_with(session.peer())) --of_client;
  }
  const Limits& limits = environment_.limits;
  if (others >= limits.sessions)
    return fmt::format("the target has {}", counted(others, "session"));
  if (of_client < limits.client_sessions) return std::nullopt;
  return fmt::format("{} has {}, and one client may have no more", session.peer().text(),
                     counted(of_client, "session"));
}

void Sessions::fence(std::uint64_t attachment, const std::string& taker) {
  if (Session* const holder = find(session_of(attachment))) {
    holder->end_attachment(attachment, taker);
  }
}

void Sessions::on_session_leaves(Session& session) {
  roll_.leave(session.id());
  tell_size();
}

/// It stays known until nothing is left of it: whoever resumes it has to wait for that.
void Sessions::on_session_over(Session& session) {
  roll_.end(session.id());
  tell_size();
  environment_.drain.when_gone(session.attachments(), lifetime_.guard([this, id = session.id()] {
    asio::post(environment_.io, lifetime_.guard([this, id] { remove(id); }));
  }));
}

void Sessions::remove(std::uint32_t id) {
  roll_.remove(id);
  sessions_.erase(id);
  if (sessions_.empty() && all_gone_) all_gone_();
}

void Sessions::tell_size() const {
  if (size_changed_) size_changed_();
}

void Sessions::expel_without_key(const ClientKeys& keys) {
  for (const auto& [id, session] : sessions_) {
    const std::string& client = session->peer().client;
    if (client.empty() || keys.has(client)) continue;
    session->expel(Status::unauthorized,
                   fmt::format("client '{}' was removed from the keys", client));
  }
}

void Sessions::announce_size(const std::string& name) {
  for (const auto& [id, session] : sessions_) session->announce_size(name);
}

std::size_t Sessions::count_deaf(const std::string& name, std::uint64_t size) const {
  std::size_t count = 0;
  for (const auto& [id, session] : sessions_) {
    if (!session->is_over() && !session->takes_sizes()) count += session->count_larger(name, size);
  }
  return count;
}

void Sessions::expel_slow(const std::string& name, std::uint64_t size) {
  for (const auto& [id, session] : sessions_) {
    if (session->is_over() || session->count_larger(name, size) == 0) continue;
    session->expel(
        Status::limit,
        fmt::format("it did not acknowledge in time that export '{}' was resized", name));
  }
}

Sessions::Losses Sessions::end_device(const ibv_context* device, const std::string& reason) {
  Losses losses;
  for (const auto& [id, session] : sessions_) {
    if (session->is_over()) continue;
    losses.queues += session->end_device(device, reason);
    if (session->is_over()) ++losses.sessions;
  }
  return losses;
}

void Sessions::end_export(const std::string& name) {
  for (const auto& [id, session] : sessions_) session->end_export(name);
}

void Sessions::end_disallowed(const std::string& name) {
  for (const auto& [id, session] : sessions_) session->end_disallowed(name);
}

void Sessions::say_goodbye(std::function<void()> all_gone) {
  if (sessions_.empty()) return all_gone();
  all_gone_ = std::move(all_gone);
  // They stay here until later: nothing is removed while all are walked through.
  for (const auto& [id, session] : sessions_) session->say_goodbye();
}

std::size_t Sessions::lasting() const {
  return static_cast<std::size_t>(std::count_if(
      sessions_.begin(), sessions_.end(), [](const auto& one) { return !one.second->is_over(); }));
}

void Sessions::clear() noexcept {
  all_gone_ = nullptr;
  sessions_.clear();
}

void Sessions::count(Counts& counts) const {
  counts.sessions = sessions_.size();
  for (const auto& [id, session] : sessions_) session->count(counts);
}

std::vector<SessionStatus> Sessions::status() const {
  std::vector<SessionStatus> all;
  for (const auto& [id, session] : sessions_) {
    if (session->is_greeted() && !session->is_over()) all.push_back(session->status());
  }
  return all;
}

bool Sessions::evict(std::uint32_t id, const std::string& reason) {
  Session* const session = find(id);
  if (session == nullptr || !session->is_greeted() || session->is_over()) return false;
  session->expel(Status::limit, reason);
  return true;
}

}  // namespace rdmablk::target
