#pragma once

#include <optional>
#include <string>

#include "common/cm/tcp/port_place.h"

namespace rdmablk::cm::tcp {

/// What a place is to suit. What is null is not known.
struct PlaceHints {
  const SocketAddress* local = nullptr;   ///< this end's address of the TCP connection
  const SocketAddress* remote = nullptr;  ///< the other end's
  const Endpoint* peer = nullptr;         ///< the other end's queue pair
};

/// Either a place, or why there is none.
struct PlaceChoice {
  std::optional<PortPlace> place;
  std::string why;  ///< for people
};

/// Chooses the place that suits best: one whose network and version of RoCE are the peer's, and
/// whose address is of a family that reaches the peer's, unless the settings name the address; of
/// these one that is the TCP connection's own, rather RoCE v2 than v1, rather of the TCP
/// connection's family, no link-local one, near to the peer's; the first of equals.
PlaceChoice choose_place(const PortPlaces& places, const Settings& settings,
                         const PlaceHints& hints);

}  // namespace rdmablk::cm::tcp
