#include "common/cm/tcp/gid.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>

namespace rdmablk::cm::tcp {
namespace {

/// What IPv4 addresses are mapped to (RFC 4291, section 2.5.5.2).
constexpr GidBytes kMappedIpv4{
    {{}, {}, {}, {}, {}, {}, {}, {}, {}, {}, std::byte{0xff}, std::byte{0xff}, {}, {}, {}, {}}};
constexpr std::size_t kMappedPrefix = 12;

}  // namespace

GidBytes bytes_of(const ibv_gid& gid) noexcept {
  return std::bit_cast<GidBytes>(gid);
}

std::optional<GidBytes> gid_of(const SocketAddress& address) noexcept {
  const sockaddr* const raw = address.get();
  if (raw->sa_family == AF_INET6) {
    sockaddr_in6 in6;
    std::memcpy(&in6, raw, sizeof in6);
    return std::bit_cast<GidBytes>(in6.sin6_addr);
  }
  if (raw->sa_family != AF_INET) return std::nullopt;
  sockaddr_in in;
  std::memcpy(&in, raw, sizeof in);
  GidBytes gid = kMappedIpv4;
  std::memcpy(&gid[kMappedPrefix], &in.sin_addr, sizeof in.sin_addr);
  return gid;
}

GidFamily family_of(const GidBytes& gid) noexcept {
  if (std::equal(gid.begin(), gid.begin() + kMappedPrefix, kMappedIpv4.begin())) {
    return GidFamily::ipv4;
  }
  const bool is_link_local =
      gid[0] == std::byte{0xfe} && (gid[1] & std::byte{0xc0}) == std::byte{0x80};
  return is_link_local ? GidFamily::link_local : GidFamily::global;
}

int common_prefix(const GidBytes& one, const GidBytes& other) noexcept {
  int bits = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    const auto difference = std::to_integer<std::uint8_t>(one[i] ^ other[i]);
    if (difference != 0) return bits + std::countl_zero(difference);
    bits += 8;
  }
  return bits;
}

std::string gid_text(const GidBytes& gid) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  ::inet_ntop(AF_INET6, gid.data(), text.data(), text.size());
  return text.data();
}

}  // namespace rdmablk::cm::tcp
