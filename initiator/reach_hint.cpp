#include "initiator/reach_hint.h"

#include <fmt/format.h>

#include <string_view>

namespace rdmablk::initiator {
namespace {

/// The port that is free beside a target's, for a trial with another program.
constexpr std::uint16_t kTrialPort = kDefaultPort + 1;

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

std::string network_hint(const SocketAddress& peer, cm::Method method) {
  if (method == cm::Method::tcp) {
    return fmt::format(
        "is rdmablk-target running there with --cm tcp or both, and does the network let TCP port "
        "{} through? RDMA itself takes another way (RoCE: UDP port 4791), which "
        "`ibv_rc_pingpong -g INDEX` there and `ibv_rc_pingpong -g INDEX {}` here (Debian: "
        "ibverbs-utils; the indices of `rdmablk devices`) try without rdmablk",
        peer.port(), peer.host());
  }
  return fmt::format(
      "is rdmablk-target running there, and does the network let RDMA through (RoCE: UDP port "
      "4791; iWARP: TCP ports {} and {})? `rping -s -p {}` there and `rping -c -v -C 1 -a {} -p "
      "{}` here (Debian: rdmacm-utils) try it without rdmablk",
      peer.port(), kTrialPort, kTrialPort, peer.host(), kTrialPort);
}

std::string reach_hint(const SocketAddress& peer, cm::Method method) {
  return fmt::format("{}{}{}{}{}", network_hint(peer, method), kDoctor, peer.text(),
                     method == cm::Method::tcp ? " --cm tcp" : "", kTells);
}

}  // namespace rdmablk::initiator
