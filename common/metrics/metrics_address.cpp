#include "common/metrics/metrics_address.h"

#include <fmt/format.h>

#include "common/error.h"
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

}  // namespace rdmablk::metrics
