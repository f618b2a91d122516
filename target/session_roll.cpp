#include "target/session_roll.h"

#include <utility>

namespace rdmablk::target {

void SessionRoll::add_handshake(std::uint32_t session, std::string host,
                                std::chrono::steady_clock::time_point since) {
  entries_.try_emplace(session).first->second.handshake = {std::move(host), since};
  handshakes_.insert(session);
}

void SessionRoll::enter(std::uint32_t session, const SessionPeer& peer) {
  const auto found = entries_.find(session);
  if (found == entries_.end() || handshakes_.erase(session) == 0) return;
  Entry& entry = found->second;
  entry.peer = peer;
  entry.in = true;
  if (peer.instance != protocol::InstanceId{}) instances_[peer.instance].insert(session);
  ++accounts_[peer.account()];
  ++size_;
}

void SessionRoll::leave(std::uint32_t session) {
  const auto found = entries_.find(session);
  if (found == entries_.end() || !found->second.in) return;
  take_out(found->second);
  handshakes_.insert(session);
}

void SessionRoll::end(std::uint32_t session) {
  handshakes_.erase(session);
  const auto found = entries_.find(session);
  if (found != entries_.end() && found->second.in) take_out(found->second);
}

void SessionRoll::take_out(Entry& entry) {
  entry.in = false;
  --size_;
  const auto account = accounts_.find(entry.peer.account());
  if (--account->second == 0) accounts_.erase(account);
}

void SessionRoll::remove(std::uint32_t session) {
  end(session);
  const auto found = entries_.find(session);
  if (found == entries_.end()) return;
  const auto instance = instances_.find(found->second.peer.instance);
  if (instance != instances_.end()) {
    instance->second.erase(session);
    if (instance->second.empty()) instances_.erase(instance);
  }
  entries_.erase(found);
}

std::size_t SessionRoll::size_of_account(const SessionPeer& peer) const {
  const auto found = accounts_.find(peer.account());
  return found == accounts_.end() ? 0 : found->second;
}

bool SessionRoll::is_in(std::uint32_t session) const {
  const auto found = entries_.find(session);
  return found != entries_.end() && found->second.in;
}

std::vector<std::uint32_t> SessionRoll::resumed_by(const SessionPeer& peer) const {
  std::vector<std::uint32_t> resumed;
  const auto found = instances_.find(peer.instance);
  if (found == instances_.end()) return resumed;
  for (const std::uint32_t session : found->second) {
    if (entries_.at(session).peer.is_resumed_by(peer)) resumed.push_back(session);
  }
  return resumed;
}

std::uint32_t SessionRoll::who_gives_way(const std::string& host,
                                         std::chrono::milliseconds reticence,
                                         std::chrono::steady_clock::time_point now) const {
  std::vector<Handshake> waiting;
  std::vector<std::uint32_t> sessions;
  for (const std::uint32_t session : handshakes_) {
    waiting.push_back(entries_.at(session).handshake);
    sessions.push_back(session);
  }
  const auto loser = target::who_gives_way(waiting, host, reticence, now);
  return loser ? sessions[*loser] : 0;
}

}  // namespace rdmablk::target
