#include "target/address_prefix.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "common/error.h"
#include "common/units.h"

namespace rdmablk::target {
namespace {

using asio::ip::address;

[[noreturn]] void refuse(std::string_view text) {
  throw UsageError(fmt::format(
      "'{}' is not a range of addresses: it is written ADDRESS or ADDRESS/BITS, such as "
      "192.0.2.0/24 or 2001:db8::/32",
      text));
}

address plain(const address& any) {
  if (any.is_v6() && any.to_v6().is_v4_mapped()) {
    return asio::ip::make_address_v4(asio::ip::v4_mapped, any.to_v6());
  }
  return any;
}

std::vector<unsigned char> bytes_of(const address& any) {
  if (any.is_v4()) {
    const auto bytes = any.to_v4().to_bytes();
    return {bytes.begin(), bytes.end()};
  }
  const auto bytes = any.to_v6().to_bytes();
  return {bytes.begin(), bytes.end()};
}

/// Takes away all bits behind the first ones.
std::vector<unsigned char> first_bits(std::vector<unsigned char> bytes, unsigned bits) {
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const unsigned before = static_cast<unsigned>(i) * 8;
    const unsigned kept = bits <= before ? 0 : std::min(bits - before, 8U);
    bytes[i] = static_cast<unsigned char>(bytes[i] & (0xff00U >> kept));
  }
  return bytes;
}

}  // namespace

AddressPrefix::AddressPrefix(const address& first, unsigned bits) : first_(first), bits_(bits) {}

AddressPrefix AddressPrefix::parse(std::string_view text) {
  const auto slash = text.find('/');
  const std::string_view host = text.substr(0, slash);
  // A scope ("%eth0") is that of this host alone.
  if (host.find('%') != std::string_view::npos) refuse(text);
  asio::error_code error;
  const address first = plain(asio::ip::make_address(std::string(host), error));
  if (error) refuse(text);
  const unsigned most = first.is_v4() ? 32 : 128;
  unsigned bits = most;
  if (slash != std::string_view::npos) {
    const auto number = parse_number(text.substr(slash + 1), most);
    if (!number) refuse(text);
    bits = static_cast<unsigned>(*number);
  }
  if (first_bits(bytes_of(first), bits) != bytes_of(first)) {
    throw UsageError(fmt::format(
        "'{}' is not a range of addresses: bits behind the first {} are set", text, bits));
  }
  return {first, bits};
}

std::string AddressPrefix::text() const {
  return fmt::format("{}/{}", first_.to_string(), bits_);
}

bool AddressPrefix::contains(const address& any) const {
  const address asked = plain(any);
  return asked.is_v4() == first_.is_v4() && first_bits(bytes_of(asked), bits_) == bytes_of(first_);
}

std::optional<address> address_of(std::string_view address_and_port) {
  std::string_view host = address_and_port.substr(0, address_and_port.rfind(':'));
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  asio::error_code error;
  const address found = asio::ip::make_address(std::string(host), error);
  if (error) return std::nullopt;
  return found;
}

}  // namespace rdmablk::target
