#include "common/cm/tcp/place_choice.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/cm/tcp/gid.h"
#include "common/verbs/context.h"
#include "common/verbs/gid_table.h"

namespace rdmablk::cm::tcp {
namespace {

/// What is known of the two ends, as addresses.
struct Ends {
  explicit Ends(const PlaceHints& hints) {
    if (hints.local != nullptr) local = gid_of(*hints.local);
    if (hints.remote != nullptr) remote = gid_of(*hints.remote);
    if (hints.peer != nullptr) peer = hints.peer->gid;
  }

  std::optional<GidBytes> local;
  std::optional<GidBytes> remote;
  std::optional<GidBytes> peer;
};

/// What speaks against a place; nothing when it reaches the peer.
std::optional<std::string> objection(const PortPlace& place, const Settings& settings,
                                     const Endpoint& peer) {
  if (place.link_layer != peer.link_layer || place.gid_type != peer.gid_type) {
    return fmt::format("{} is for {}, and the other end for {}", verbs::device_name(place.device),
                       verbs::gid_type_name(place.gid_type), verbs::gid_type_name(peer.gid_type));
  }
  const bool is_routed_by_ip = place.gid_type == IBV_GID_TYPE_ROCE_V2;
  if (!is_routed_by_ip || settings.gid_index) return std::nullopt;
  if (family_of(bytes_of(place.gid)) == family_of(peer.gid)) return std::nullopt;
  return fmt::format("{} has no address that reaches {}, the other end's",
                     verbs::device_name(place.device), gid_text(peer.gid));
}

/// How well it suits; each reason counts for more than all that come after it.
int points_of(const PortPlace& place, const Ends& ends) {
  const GidBytes gid = bytes_of(place.gid);
  const GidFamily family = family_of(gid);
  constexpr int kBits = 256;
  int points = 0;
  // Unless the peer comes from another network than the TCP connection's.
  const bool is_of_tcp = !ends.peer || !ends.remote || ends.peer == ends.remote;
  if (ends.local == gid && is_of_tcp) points += 8 * kBits;
  if (place.gid_type != IBV_GID_TYPE_ROCE_V1) points += 4 * kBits;
  // A link-local address is of one link, and the TCP connection's is taken already.
  const bool is_routed = family != GidFamily::link_local;
  if (ends.remote && is_routed && family == family_of(*ends.remote)) points += 2 * kBits;
  if (is_routed) points += kBits;
  const auto& near = ends.peer ? ends.peer : ends.remote;
  if (near && family == family_of(*near)) points += common_prefix(gid, *near);
  return points;
}

}  // namespace

PlaceChoice choose_place(const PortPlaces& places, const Settings& settings,
                         const PlaceHints& hints) {
  const Ends ends(hints);
  PlaceChoice choice{{}, places.others};
  int best = -1;
  for (const PortPlace& place : places.places) {
    const auto against =
        hints.peer == nullptr ? std::nullopt : objection(place, settings, *hints.peer);
    if (!against) {
      const int points = points_of(place, ends);
      if (points <= best) continue;
      best = points;
      choice.place = place;
    } else if (choice.why.find(*against) == std::string::npos) {
      choice.why += (choice.why.empty() ? "" : "; ") + *against;
    }
  }
  if (choice.place) choice.why.clear();
  return choice;
}

}  // namespace rdmablk::cm::tcp
