#include "common/uri.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/export_name.h"
#include "common/units.h"

namespace rdmablk {
namespace {

constexpr std::string_view kScheme = "rdmablk://";

/// Brackets stand around an IPv6 address, and nowhere in a host.
bool is_host_character(char c) {
  return c > ' ' && c < 0x7f && c != '/' && c != '@' && c != '?' && c != '[' && c != ']';
}

void check_host(std::string_view host, std::string_view whole) {
  if (std::all_of(host.begin(), host.end(), is_host_character)) return;
  throw UsageError(fmt::format("'{}' is not a host: it is written HOST[:PORT]", whole));
}

std::uint16_t parse_port(std::string_view text, std::string_view whole) {
  const auto port = parse_number(text, UINT16_MAX);
  if (!port || *port == 0) {
    throw UsageError(
        fmt::format("'{}' in '{}' is not a port: it takes a number from 1 to 65535", text, whole));
  }
  return static_cast<std::uint16_t>(*port);
}

/// Splits "[IPV6]" and what follows it from the text.
HostPort parse_bracketed(std::string_view text, std::uint16_t default_port) {
  const auto close = text.find(']');
  if (close == std::string_view::npos || close == 1) {
    throw UsageError(fmt::format("'{}' is not an address: an IPv6 address is written [::1]", text));
  }
  HostPort result{std::string(text.substr(1, close - 1)), default_port};
  check_host(result.host, text);
  const auto rest = text.substr(close + 1);
  if (rest.empty()) return result;
  if (rest.front() != ':') {
    throw UsageError(fmt::format("'{}' is not an address: after ']' comes :PORT or nothing", text));
  }
  result.port = parse_port(rest.substr(1), text);
  return result;
}

}  // namespace

std::string HostPort::text() const {
  const bool is_ipv6 = host.find(':') != std::string::npos;
  return is_ipv6 ? fmt::format("[{}]:{}", host, port) : fmt::format("{}:{}", host, port);
}

HostPort parse_host_port(std::string_view text, std::uint16_t default_port) {
  if (text.empty()) throw UsageError("the host is missing: it is written HOST[:PORT]");
  if (text.front() == '[') return parse_bracketed(text, default_port);
  check_host(text, text);
  const auto colons = std::count(text.begin(), text.end(), ':');
  if (colons != 1) return HostPort{std::string(text), default_port};
  const auto colon = text.find(':');
  if (colon == 0) throw UsageError(fmt::format("the host is missing in '{}'", text));
  return {std::string(text.substr(0, colon)), parse_port(text.substr(colon + 1), text)};
}

std::string Uri::text() const {
  return fmt::format("{}{}/{}", kScheme, target.text(), export_name);
}

Uri parse_uri(std::string_view text, std::uint16_t default_port) {
  if (!text.starts_with(kScheme)) {
    throw UsageError(fmt::format(
        "'{}' is not a URI of an export: it is written {}HOST[:PORT]/EXPORT", text, kScheme));
  }
  const auto rest = text.substr(kScheme.size());
  const auto slash = rest.find('/');
  if (slash == std::string_view::npos || slash + 1 == rest.size()) {
    throw UsageError(fmt::format(
        "'{}' names no export: a URI is written {}HOST[:PORT]/EXPORT; `rdmablk list` shows what "
        "there is",
        text, kScheme));
  }
  const auto name = rest.substr(slash + 1);
  if (!is_export_name(name)) {
    throw UsageError(fmt::format(
        "'{}' is not a name of an export: up to {} letters, digits, '.', '_' and '-', the first a "
        "letter or digit",
        name, kMaxExportName));
  }
  return {parse_host_port(rest.substr(0, slash), default_port), std::string(name)};
}

}  // namespace rdmablk
