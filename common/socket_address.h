#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <span>
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
  int family() const noexcept { return storage_.ss_family; }

  /// Whether it is an IPv6 address that is of one link alone.
  bool is_link_local() const noexcept;

  /// The number of the interface whose link it is of; 0: it is of none, or that is not told.
  unsigned scope() const noexcept;

  /// Whether it is the same address, whatever the ports.
  bool is_same_host(const SocketAddress& other) const noexcept;

  /// Whether the first `bits` of both addresses are the same, and they are of one family.
  bool shares(const SocketAddress& other, unsigned bits) const noexcept;

  /// "192.0.2.1", "2001:db8::1", "fe80::1%eth0".
  std::string host() const;

  /// "192.0.2.1:10812", "[2001:db8::1]:10812".
  std::string text() const;

 private:
  std::span<const std::uint8_t> bytes() const noexcept;

  sockaddr_storage storage_{};
};

/// All addresses of a host (getaddrinfo(3)), in the order to try them. Never empty; throws Error.
std::vector<SocketAddress> resolve(const HostPort& target);

}  // namespace rdmablk
