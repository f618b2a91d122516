#pragma once

#include <cstddef>
#include <span>

namespace rdmablk::auth {

/// What stands in front of everything that an HMAC is made of: what is computed for one purpose is
/// worth nothing for another. The zero at its end is part of it, so that none begins with another.
template <std::size_t size>
std::span<const std::byte> label(const char (&text)[size]) noexcept {
  return std::as_bytes(std::span(text));
}

}  // namespace rdmablk::auth
