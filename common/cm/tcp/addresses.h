#pragma once

#include <asio/ip/tcp.hpp>
#include <cstring>

#include "common/socket_address.h"

namespace rdmablk::cm::tcp {

inline asio::ip::tcp::endpoint to_endpoint(const SocketAddress& address) noexcept {
  asio::ip::tcp::endpoint endpoint;
  const bool is_ipv6 = address.get()->sa_family == AF_INET6;
  const std::size_t size = is_ipv6 ? sizeof(sockaddr_in6) : sizeof(sockaddr_in);
  std::memcpy(endpoint.data(), address.get(), size);
  return endpoint;
}

inline SocketAddress to_address(const asio::ip::tcp::endpoint& endpoint) noexcept {
  return SocketAddress(*endpoint.data());
}

}  // namespace rdmablk::cm::tcp
