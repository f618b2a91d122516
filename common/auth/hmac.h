#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <span>

namespace rdmablk::auth {

/// What HMAC-SHA256 gives, in bytes.
inline constexpr std::size_t kDigestSize = 32;
using Digest = std::array<std::byte, kDigestSize>;

/// HMAC-SHA256 (RFC 2104) of the parts one after another. Throws Error when the library fails.
Digest hmac_sha256(std::span<const std::byte> key,
                   std::initializer_list<std::span<const std::byte>> parts);

/// Compares in a time that does not depend on where they differ.
bool equal_in_constant_time(std::span<const std::byte, kDigestSize> a,
                            std::span<const std::byte, kDigestSize> b) noexcept;

}  // namespace rdmablk::auth
