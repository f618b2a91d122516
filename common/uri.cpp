#include "common/uri.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/error.h"
#include "common/export_name.h"
#include "common/units.h"

namespace rdmablk {
namespace {

constexpr std::string_view kScheme = "rdmablk://";
constexpr std::string_view kEncodedPercent = "%25";

/// Brackets stand around an IPv6 address, and nowhere in a host.
bool is_host_character(char c) {
  return c > ' ' && c < 0x7f && c != '/' && c != '@' && c != '?' && c != '[' && c != ']';
}

void check_host(std::string_view host, std::string_view whole) {
  if (std::all_of(host.begin(), host.end(), is_host_character)) return;
  throw UsageError(fmt::format("'{}' is not a host: it is written HOST[:PORT]", whole));
}

/// A link-local address is of an interface, whose name comes behind '%' (RFC 4007), in a URI behind
/// "%25" (RFC 6874).
std::string plain_host(std::string_view text, std::string_view whole) {
  check_host(text, whole);
  const auto percent = text.find('%');
  if (percent == std::string_view::npos) return std::string(text);
  const auto address = text.substr(0, percent);
  auto zone = text.substr(percent + 1);
  // What is left may be a name itself: an interface can be called 25.
  if (text.substr(percent).starts_with(kEncodedPercent) && zone.size() >= kEncodedPercent.size()) {
    zone.remove_prefix(kEncodedPercent.size() - 1);
  }
  const bool is_zone = !zone.empty() && zone.find('%') == std::string_view::npos;
  if (is_zone && address.find(':') != std::string_view::npos) {
    return fmt::format("{}%{}", address, zone);
  }
  throw UsageError(
      fmt::format("'{}' is not an address: behind '%' comes the interface of a link-local IPv6 "
                  "address, as in [fe80::1%eth0]",
                  whole));
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
  HostPort result{plain_host(text.substr(1, close - 1), text), default_port};
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
  if (!is_ipv6) return fmt::format("{}:{}", host, port);
  std::string address = host;
  const auto percent = address.find(kEncodedPercent);
  const bool is_ambiguous =
      percent != std::string::npos && percent + kEncodedPercent.size() < address.size();
  if (is_ambiguous) address.replace(percent, 1, kEncodedPercent);
  return fmt::format("[{}]:{}", address, port);
}

HostPort parse_host_port(std::string_view text, std::uint16_t default_port) {
  if (text.empty()) throw UsageError("the host is missing: it is written HOST[:PORT]");
  if (text.front() == '[') return parse_bracketed(text, default_port);
  const std::string host = plain_host(text, text);
  const auto colons = std::count(text.begin(), text.end(), ':');
  if (colons != 1) return HostPort{host, default_port};
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
