#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace rdmablk {

/// The port that a target listens on with rdma_cm.
inline constexpr std::uint16_t kDefaultPort = 10812;

/// Where a target listens: a host name or address, and a port.
struct HostPort {
  std::string host;  ///< without brackets; with the interface of a link-local address: "fe80::1%v0"
  std::uint16_t port = kDefaultPort;

  /// "host:port", an IPv6 address in brackets.
  std::string text() const;
  bool operator==(const HostPort&) const = default;
};

/// Reads HOST[:PORT] or [IPV6][:PORT]; a bare IPv6 address is taken without a port. A link-local
/// one has its interface behind '%' or, as in URIs, "%25".
/// @param default_port where none is given. Throws UsageError.
HostPort parse_host_port(std::string_view text, std::uint16_t default_port = kDefaultPort);

/// rdmablk://HOST[:PORT]/EXPORT
struct Uri {
  HostPort target;
  std::string export_name;

  std::string text() const;
  bool operator==(const Uri&) const = default;
};

/// Reads a URI. Throws UsageError, whose text shows the form that is expected.
Uri parse_uri(std::string_view text, std::uint16_t default_port = kDefaultPort);

}  // namespace rdmablk
