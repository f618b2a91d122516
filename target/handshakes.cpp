#include "target/handshakes.h"

#include <map>
#include <tuple>

namespace rdmablk::target {
namespace {

struct Share {
  std::size_t handshakes = 0;
  std::size_t oldest = 0;
};

std::map<std::string, Share> share_out(std::span<const Handshake> handshakes) {
  std::map<std::string, Share> shares;
  for (std::size_t i = 0; i < handshakes.size(); ++i) {
    Share& share = shares.try_emplace(handshakes[i].host, Share{0, i}).first->second;
    ++share.handshakes;
    if (handshakes[i].since < handshakes[share.oldest].since) share.oldest = i;
  }
  return shares;
}

}  // namespace

std::optional<std::size_t> who_gives_way(std::span<const Handshake> handshakes,
                                         const std::string& newcomer,
                                         std::chrono::milliseconds reticence,
                                         std::chrono::steady_clock::time_point now) {
  const auto shares = share_out(handshakes);
  const auto own = shares.find(newcomer);
  const std::size_t owned = own == shares.end() ? 0 : own->second.handshakes;
  // Of hosts that have as many, the newcomer's own, or else the one that waits longest.
  const auto rank = [&](const auto& entry) {
    return std::tuple(entry.second.handshakes, entry.first == newcomer,
                      now - handshakes[entry.second.oldest].since);
  };
  const std::pair<const std::string, Share>* first = nullptr;
  for (const auto& entry : shares) {
    if (first == nullptr || rank(entry) > rank(*first)) first = &entry;
  }
  if (first == nullptr) return std::nullopt;
  const Share& share = first->second;
  if (share.handshakes > owned + 1) return share.oldest;
  if (now - handshakes[share.oldest].since > reticence) return share.oldest;
  return std::nullopt;
}

}  // namespace rdmablk::target
