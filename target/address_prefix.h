#pragma once

#include <asio/ip/address.hpp>
#include <optional>
#include <string_view>

namespace rdmablk::target {

/// The addresses that begin with the same bits, of IPv4 or of IPv6.
class AddressPrefix {
 public:
  /// Reads ADDRESS or ADDRESS/BITS, where no bit behind the first BITS is set. Throws UsageError.
  static AddressPrefix parse(std::string_view text);

  /// @param address an IPv4 one that is written as IPv6 (::ffff:192.0.2.1) counts as IPv4.
  bool contains(const asio::ip::address& address) const;

  bool operator==(const AddressPrefix&) const = default;

 private:
  AddressPrefix(const asio::ip::address& address, unsigned bits);

  asio::ip::address first_;
  unsigned bits_;
};

/// The address in front of a port: "192.0.2.1:10812", "[2001:db8::1]:10812".
/// @return nothing when there is none.
std::optional<asio::ip::address> address_of(std::string_view address_and_port);

}  // namespace rdmablk::target
