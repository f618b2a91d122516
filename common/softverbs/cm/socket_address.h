#pragma once

#include <infiniband/verbs.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <optional>
#include <string>

namespace softverbs::cm {

/// An IPv4 or IPv6 address with a port, by value.
class SocketAddress {
 public:
  /// The wildcard of IPv4 with port 0.
  SocketAddress();
  /// @return nothing for NULL or another family than AF_INET and AF_INET6.
  static std::optional<SocketAddress> from(const sockaddr* address);
  static SocketAddress wildcard(int family);
  static SocketAddress loopback(int family);

  [[nodiscard]] int family() const { return storage_.ss_family; }
  [[nodiscard]] const sockaddr* get() const;
  [[nodiscard]] socklen_t size() const;
  /// Port in host byte order.
  [[nodiscard]] uint16_t port() const;
  void set_port(uint16_t port);

  [[nodiscard]] bool is_wildcard() const;
  [[nodiscard]] bool is_multicast() const;
  /// Whether it is of 127.0.0.0/8, perhaps within an IPv6 address.
  [[nodiscard]] bool is_loopback4() const;
  /// Same family and host; ports do not count.
  [[nodiscard]] bool same_host(const SocketAddress& other) const;
  /// The last byte of the host address; it chooses the device (see DeviceTable).
  [[nodiscard]] uint8_t last_byte() const;
  /// The GID that RoCE gives to this address: IPv4 is mapped into ::ffff:0:0/96.
  [[nodiscard]] ibv_gid gid() const;
  /// Family and host as a word without '/', the same for equal hosts ("4-7f000001"). An IPv4
  /// address within an IPv6 one (::ffff:127.0.0.1) is that IPv4 address.
  [[nodiscard]] std::string key() const;
  void copy_to(sockaddr_storage& out) const { out = storage_; }

 private:
  [[nodiscard]] const sockaddr_in& v4() const;
  [[nodiscard]] const sockaddr_in6& v6() const;

  sockaddr_storage storage_{};
};

}  // namespace softverbs::cm
