#pragma once

#include <cstddef>
#include <span>

namespace rdmablk {

/// Fills a buffer with random bytes that nobody can guess (RAND_bytes(3)). Throws Error.
void fill_random(std::span<std::byte> buffer);

/// A random array of bytes: a token, an identity.
template <typename Array>
Array random_bytes() {
  Array bytes{};
  fill_random(bytes);
  return bytes;
}

}  // namespace rdmablk
