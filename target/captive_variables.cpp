#include "target/captive_variables.h"

#include "common/uri.h"

namespace rdmablk::target {
namespace {

/// Who listens everywhere does so on the loopback address, too.
HostPort reachable(const SocketAddress& address) {
  HostPort place = parse_host_port(address.text());
  if (address.is_wildcard())
    place.host = place.host.find(':') == std::string::npos ? "127.0.0.1" : "::1";
  return place;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> captive_variables(
    std::span<const SocketAddress> addresses, std::span<const ExportSpec> exports) {
  const HostPort place = reachable(addresses.front());
  std::string names;
  for (const ExportSpec& spec : exports) names += (names.empty() ? "" : " ") + spec.name;
  std::vector<std::pair<std::string, std::string>> variables{
      {"host", place.host}, {"port", std::to_string(place.port)}, {"exports", names}};
  if (!exports.empty()) {
    variables.emplace_back("uri", Uri{place, exports.front().name}.text());
  }
  return variables;
}

}  // namespace rdmablk::target
