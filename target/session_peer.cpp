#include "target/session_peer.h"

#include <fmt/format.h>

namespace rdmablk::target {

std::string SessionPeer::text() const {
  return client.empty() ? address : fmt::format("{} ({})", client, address);
}

std::string SessionPeer::account() const {
  // The colon keeps the two apart: no name has one.
  return client.empty() ? ":" + host() : client;
}

bool SessionPeer::shares_account_with(const SessionPeer& other) const noexcept {
  if (client != other.client) return false;
  return !client.empty() || host_part() == other.host_part();
}

bool SessionPeer::is_resumed_by(const SessionPeer& other) const noexcept {
  return instance != protocol::InstanceId{} && instance == other.instance && client == other.client;
}

}  // namespace rdmablk::target
