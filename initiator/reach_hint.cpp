#include "initiator/reach_hint.h"

#include <fmt/format.h>

#include <string_view>

namespace rdmablk::initiator {
namespace {

/// The port that is free beside a target's, for a trial with another program.
constexpr std::uint16_t kTrialPort = kDefaultPort + 1;

/// The address without its port, and without brackets.
std::string host_of(const SocketAddress& peer) {
  const std::string text = peer.text();
  std::string host = text.substr(0, text.rfind(':'));
  if (host.starts_with('[')) host = host.substr(1, host.size() - 2);
  return host;
}

constexpr std::string_view kDoctor = "; `rdmablk doctor ";
constexpr std::string_view kTells = "` tells more";

}  // namespace

std::string without_doctor(std::string message) {
  for (auto from = message.find(kDoctor); from != std::string::npos; from = message.find(kDoctor)) {
    const auto to = message.find(kTells, from);
    if (to == std::string::npos) break;
    message.erase(from, to + kTells.size() - from);
  }
  return message;
}

std::string network_hint(const SocketAddress& peer) {
  return fmt::format(
      "is rdmablk-target running there, and does the network let RDMA through (RoCE: UDP port "
      "4791; iWARP: TCP ports {} and {})? `rping -s -p {}` there and `rping -c -v -C 1 -a {} -p "
      "{}` here (Debian: rdmacm-utils) try it without rdmablk",
      peer.port(), kTrialPort, kTrialPort, host_of(peer), kTrialPort);
}

std::string reach_hint(const SocketAddress& peer) {
  return network_hint(peer) + std::string(kDoctor) + peer.text() + std::string(kTells);
}

}  // namespace rdmablk::initiator
