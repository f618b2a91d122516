#include "common/socket_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <memory>

#include "common/error.h"
#include "common/known_error.h"
#include "common/units.h"

namespace rdmablk {
namespace {

socklen_t length_of(int family) {
  return family == AF_INET6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
}

template <typename Family>
Family as(const sockaddr_storage& storage) {
  Family address;
  std::memcpy(&address, &storage, sizeof address);
  return address;
}

}  // namespace

SocketAddress::SocketAddress(const sockaddr& address) noexcept {
  std::memcpy(&storage_, &address, length_of(address.sa_family));
}

const sockaddr* SocketAddress::get() const noexcept {
  return reinterpret_cast<const sockaddr*>(&storage_);
}

sockaddr* SocketAddress::get() noexcept {
  return reinterpret_cast<sockaddr*>(&storage_);
}

std::uint16_t SocketAddress::port() const noexcept {
  return ntohs(storage_.ss_family == AF_INET6 ? as<sockaddr_in6>(storage_).sin6_port
                                              : as<sockaddr_in>(storage_).sin_port);
}

void SocketAddress::set_port(std::uint16_t port) noexcept {
  // Both families have the port at the same place (RFC 3493, section 3.3).
  sockaddr_in address = as<sockaddr_in>(storage_);
  address.sin_port = htons(port);
  std::memcpy(&storage_, &address, sizeof address);
}

bool SocketAddress::is_wildcard() const noexcept {
  if (storage_.ss_family == AF_INET6) {
    const auto address = as<sockaddr_in6>(storage_).sin6_addr;
    return IN6_IS_ADDR_UNSPECIFIED(&address);
  }
  return as<sockaddr_in>(storage_).sin_addr.s_addr == htonl(INADDR_ANY);
}

std::span<const std::uint8_t> SocketAddress::bytes() const noexcept {
  const auto* const raw = reinterpret_cast<const std::uint8_t*>(&storage_);
  if (family() == AF_INET6) return {raw + offsetof(sockaddr_in6, sin6_addr), sizeof(in6_addr)};
  return {raw + offsetof(sockaddr_in, sin_addr), sizeof(in_addr)};
}

bool SocketAddress::is_link_local() const noexcept {
  if (family() != AF_INET6) return false;
  const auto address = as<sockaddr_in6>(storage_).sin6_addr;
  return IN6_IS_ADDR_LINKLOCAL(&address);
}

unsigned SocketAddress::scope() const noexcept {
  return is_link_local() ? as<sockaddr_in6>(storage_).sin6_scope_id : 0;
}

bool SocketAddress::is_same_host(const SocketAddress& other) const noexcept {
  constexpr unsigned kBits = 8;
  const bool same_link = scope() == other.scope() || scope() == 0 || other.scope() == 0;
  return same_link && shares(other, static_cast<unsigned>(bytes().size()) * kBits);
}

bool SocketAddress::shares(const SocketAddress& other, unsigned bits) const noexcept {
  constexpr unsigned kBits = 8;
  if (family() != other.family()) return false;
  const auto mine = bytes();
  const auto theirs = other.bytes();
  for (std::size_t i = 0; i < mine.size() && bits > 0; ++i) {
    const unsigned count = std::min(bits, kBits);
    if ((mine[i] ^ theirs[i]) >> (kBits - count) != 0) return false;
    bits -= count;
  }
  return true;
}

std::string SocketAddress::text() const {
  return HostPort{host(), port()}.text();
}

std::string SocketAddress::host() const {
  std::array<char, NI_MAXHOST> host{};
  if (::getnameinfo(get(), length_of(storage_.ss_family), host.data(), host.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
    return "an unknown address";
  }
  return host.data();
}

namespace {

/// Why an address of one link alone makes no sense; empty when it does.
std::string fault_of_link_local(const std::string& host) {
  const auto percent = host.find('%');
  if (percent == std::string::npos) return "";
  const std::string interface = host.substr(percent + 1);
  if (parse_number(interface, UINT32_MAX) || ::if_nametoindex(interface.c_str()) != 0) return "";
  return fmt::format("this host has no network interface '{}' (`ip link` shows them)", interface);
}

/// The same address is of another host on each link.
void expect_link(const SocketAddress& address) {
  if (!address.is_link_local() || address.scope() != 0) return;
  throw KnownError(EHOSTUNREACH,
                   fmt::format("address {0} is of one link alone; say of which interface here, as "
                               "in [{0}%eth0]",
                               address.host()));
}

}  // namespace

std::vector<SocketAddress> resolve(const HostPort& target) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const std::string port = std::to_string(target.port);
  const int error = ::getaddrinfo(target.host.c_str(), port.c_str(), &hints, &list);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, ::freeaddrinfo);
  if (error != 0) {
    if (const std::string fault = fault_of_link_local(target.host); !fault.empty()) {
      throw KnownError(EHOSTUNREACH, fmt::format("cannot use address {}: {}", target.host, fault));
    }
    throw KnownError(EHOSTUNREACH,
                     fmt::format("cannot find the address of host '{}': {}", target.host,
                                 error == EAI_SYSTEM ? errno_text(errno) : ::gai_strerror(error)));
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family == AF_INET || entry->ai_family == AF_INET6) {
      addresses.emplace_back(*entry->ai_addr);
      expect_link(addresses.back());
    }
  }
  if (addresses.empty()) {
    throw KnownError(EHOSTUNREACH,
                     fmt::format("host '{}' has neither an IPv4 nor an IPv6 address", target.host));
  }
  return addresses;
}

}  // namespace rdmablk
