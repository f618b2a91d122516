#pragma once

#include <infiniband/verbs.h>

#include <array>
#include <cstddef>
#include <optional>
#include <string>

#include "common/socket_address.h"

/// Addresses as they stand in tables of GIDs: IPv6, or IPv4 mapped into it.
namespace rdmablk::cm::tcp {

using GidBytes = std::array<std::byte, sizeof(ibv_gid)>;

/// Those of different families do not reach each other.
enum class GidFamily { ipv4, link_local, global };

GidBytes bytes_of(const ibv_gid& gid) noexcept;

/// Nothing for an address that is neither IPv4 nor IPv6.
std::optional<GidBytes> gid_of(const SocketAddress& address) noexcept;

GidFamily family_of(const GidBytes& gid) noexcept;

/// In how many bits from the front two addresses agree.
int common_prefix(const GidBytes& one, const GidBytes& other) noexcept;

/// "::ffff:192.0.2.1".
std::string gid_text(const GidBytes& gid);

}  // namespace rdmablk::cm::tcp
