#pragma once

#include <cstddef>
#include <span>

namespace rdmablk::copy {

/// Whether all bytes are zero; so it is of none.
bool is_zero(std::span<const std::byte> bytes) noexcept;

/// The longest beginning of some memory that is either zeroes or data.
struct Run {
  std::size_t length = 0;  ///< bytes
  bool is_zero = false;
};

/// @param bytes at least one. @param unit bytes, at least 1: they are looked at in pieces of so
/// many, each of which is zero or data as a whole; only the last one may be shorter.
Run next_run(std::span<const std::byte> bytes, std::size_t unit) noexcept;

}  // namespace rdmablk::copy
