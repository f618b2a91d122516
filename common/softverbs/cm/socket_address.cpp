#include "common/softverbs/cm/socket_address.h"

#include <arpa/inet.h>

#include <array>
#include <cstring>
#include <span>

namespace softverbs::cm {

SocketAddress::SocketAddress() {
  storage_.ss_family = AF_INET;
}

std::optional<SocketAddress> SocketAddress::from(const sockaddr* address) {
  if (address == nullptr) return std::nullopt;
  SocketAddress result;
  if (address->sa_family == AF_INET) {
    std::memcpy(&result.storage_, address, sizeof(sockaddr_in));
  } else if (address->sa_family == AF_INET6) {
    std::memcpy(&result.storage_, address, sizeof(sockaddr_in6));
  } else {
    return std::nullopt;
  }
  return result;
}

SocketAddress SocketAddress::wildcard(int family) {
  SocketAddress result;
  result.storage_.ss_family = static_cast<sa_family_t>(family);
  return result;
}

SocketAddress SocketAddress::loopback(int family) {
  SocketAddress result = wildcard(family);
  if (family == AF_INET) {
    reinterpret_cast<sockaddr_in&>(result.storage_).sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  } else {
    reinterpret_cast<sockaddr_in6&>(result.storage_).sin6_addr = in6addr_loopback;
  }
  return result;
}

const sockaddr* SocketAddress::get() const {
  return reinterpret_cast<const sockaddr*>(&storage_);
}

const sockaddr_in& SocketAddress::v4() const {
  return reinterpret_cast<const sockaddr_in&>(storage_);
}

const sockaddr_in6& SocketAddress::v6() const {
  return reinterpret_cast<const sockaddr_in6&>(storage_);
}

socklen_t SocketAddress::size() const {
  return family() == AF_INET ? sizeof(sockaddr_in) : sizeof(sockaddr_in6);
}

// The port lies at the same place in both families.
uint16_t SocketAddress::port() const {
  return ntohs(v4().sin_port);
}

void SocketAddress::set_port(uint16_t port) {
  reinterpret_cast<sockaddr_in&>(storage_).sin_port = htons(port);
}

bool SocketAddress::is_wildcard() const {
  if (family() == AF_INET) return v4().sin_addr.s_addr == htonl(INADDR_ANY);
  return std::memcmp(&v6().sin6_addr, &in6addr_any, sizeof(in6_addr)) == 0;
}

bool SocketAddress::is_multicast() const {
  if (family() == AF_INET) return (ntohl(v4().sin_addr.s_addr) & 0xf0000000U) == 0xe0000000U;
  return v6().sin6_addr.s6_addr[0] == 0xff;
}

bool SocketAddress::is_loopback4() const {
  return key().starts_with("4-7f");
}

bool SocketAddress::same_host(const SocketAddress& other) const {
  return key() == other.key();
}

uint8_t SocketAddress::last_byte() const {
  if (family() == AF_INET) return static_cast<uint8_t>(ntohl(v4().sin_addr.s_addr) & 0xffU);
  return v6().sin6_addr.s6_addr[15];
}

ibv_gid SocketAddress::gid() const {
  ibv_gid result{};
  if (family() == AF_INET) {
    result.raw[10] = 0xff;
    result.raw[11] = 0xff;
    std::memcpy(&result.raw[12], &v4().sin_addr, sizeof(in_addr));
  } else {
    std::memcpy(&result.raw[0], &v6().sin6_addr, sizeof(in6_addr));
  }
  return result;
}

std::string SocketAddress::key() const {
  static constexpr std::array<char, 17> kDigits{"0123456789abcdef"};
  std::array<uint8_t, sizeof(in6_addr)> bytes{};
  const bool mapped = family() == AF_INET6 && IN6_IS_ADDR_V4MAPPED(&v6().sin6_addr);
  const size_t count = family() == AF_INET || mapped ? sizeof(in_addr) : sizeof(in6_addr);
  if (family() == AF_INET) {
    std::memcpy(bytes.data(), &v4().sin_addr, count);
  } else if (mapped) {
    std::memcpy(bytes.data(), &v6().sin6_addr.s6_addr[12], count);
  } else {
    std::memcpy(bytes.data(), &v6().sin6_addr, count);
  }
  std::string result = count == sizeof(in_addr) ? "4-" : "6-";
  for (const uint8_t byte : std::span(bytes).first(count)) {
    result += kDigits[byte >> 4U];
    result += kDigits[byte & 0xfU];
  }
  return result;
}

}  // namespace softverbs::cm
