#include "common/socket_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>

#include <array>
#include <cstring>
#include <memory>

#include "common/error.h"
#include "common/known_error.h"

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

std::string SocketAddress::text() const {
  std::array<char, NI_MAXHOST> host{};
  if (::getnameinfo(get(), length_of(storage_.ss_family), host.data(), host.size(), nullptr, 0,
                    NI_NUMERICHOST) != 0) {
    return "an unknown address";
  }
  return HostPort{host.data(), port()}.text();
}

std::vector<SocketAddress> resolve(const HostPort& target) {
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV;
  addrinfo* list = nullptr;
  const std::string port = std::to_string(target.port);
  const int error = ::getaddrinfo(target.host.c_str(), port.c_str(), &hints, &list);
  const std::unique_ptr<addrinfo, void (*)(addrinfo*)> owner(list, ::freeaddrinfo);
  if (error != 0) {
    throw KnownError(EHOSTUNREACH,
                     fmt::format("cannot find the address of host '{}': {}", target.host,
                                 error == EAI_SYSTEM ? errno_text(errno) : ::gai_strerror(error)));
  }
  std::vector<SocketAddress> addresses;
  for (const addrinfo* entry = list; entry != nullptr; entry = entry->ai_next) {
    if (entry->ai_family == AF_INET || entry->ai_family == AF_INET6) {
      addresses.emplace_back(*entry->ai_addr);
    }
  }
  if (addresses.empty()) {
    throw KnownError(EHOSTUNREACH,
                     fmt::format("host '{}' has neither an IPv4 nor an IPv6 address", target.host));
  }
  return addresses;
}

}  // namespace rdmablk
