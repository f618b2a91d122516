#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>
#include <vector>

#include "common/uri.h"

namespace rdmablk {

/// An IPv4 or IPv6 address and a port.
class SocketAddress {
 public:
  SocketAddress() noexcept = default;
  explicit SocketAddress(const sockaddr& address) noexcept;

  const sockaddr* get() const noexcept;
  sockaddr* get() noexcept;
  std::uint16_t port() const noexcept;
  void set_port(std::uint16_t port) noexcept;
  bool is_wildcard() const noexcept;

  /// "192.0.2.1:10812", "[2001:db8::1]:10812".
  std::string text() const;

 private:
  sockaddr_storage storage_{};
};

/// All addresses of a host (getaddrinfo(3)), in the order to try them. Never empty; throws Error.
std::vector<SocketAddress> resolve(const HostPort& target);

}  // namespace rdmablk
