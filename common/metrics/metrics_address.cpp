#include "common/metrics/metrics_address.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>

#include "common/error.h"
#include "common/socket_address.h"
#include "common/unique_fd.h"
#include "common/units.h"

namespace rdmablk::metrics {

HostPort parse_metrics_address(const std::string& option, const std::string& value) {
  constexpr const char* kLoopback = "127.0.0.1";
  const auto colon = value.rfind(':');
  const auto port =
      parse_number(value.substr(colon == std::string::npos ? 0 : colon + 1), UINT16_MAX);
  if (!port || colon == 0) {
    throw UsageError(fmt::format(
        "{} {}: it takes PORT, to listen on {}, or ADDRESS:PORT; the port is a number up to {}",
        option, value, kLoopback, UINT16_MAX));
  }
  HostPort result{kLoopback};
  // Port 0 is none to connect to.
  if (colon != std::string::npos) result = parse_host_port(value.substr(0, colon) + ":1");
  result.port = static_cast<std::uint16_t>(*port);
  return result;
}

HostPort ipv4_of(const HostPort& address) {
  for (const SocketAddress& one : resolve(address)) {
    if (one.get()->sa_family != AF_INET) continue;
    std::array<char, INET_ADDRSTRLEN> text{};
    const auto& in = *reinterpret_cast<const sockaddr_in*>(one.get());
    return {::inet_ntop(AF_INET, &in.sin_addr, text.data(), text.size()), address.port};
  }
  throw UsageError(fmt::format("--metrics {}: it listens on an IPv4 address only", address.text()));
}

int try_address(const HostPort& address) {
  const UniqueFd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  if (!socket) return errno;
  // As the server does: what is left of connections that have ended is not in the way.
  const int on = 1;
  ::setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr_in in{};
  in.sin_family = AF_INET;
  in.sin_port = htons(address.port);
  ::inet_pton(AF_INET, address.host.c_str(), &in.sin_addr);
  const auto* const name = reinterpret_cast<const sockaddr*>(&in);
  return ::bind(socket.get(), name, sizeof in) == 0 ? 0 : errno;
}

std::string describe_refusal(const HostPort& address, int error) {
  std::string remedy;
  if (error == EADDRINUSE) {
    remedy = fmt::format(
        ": another program listens there (`ss -ltnp sport = :{}` shows it); choose another port",
        address.port);
  } else if (error == EADDRNOTAVAIL) {
    remedy = ": this host has no such address (`ip address` shows those that it has)";
  } else if (error == EACCES) {
    remedy = ": ports below 1024 are for root; choose another port";
  }
  return fmt::format("cannot listen on {} for --metrics: {}{}", address.text(), errno_text(error),
                     remedy);
}

}  // namespace rdmablk::metrics
