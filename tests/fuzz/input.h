#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>
#include <string>
#include <string_view>

namespace rdmablk::fuzz {

/// An input of the fuzzer, taken apart from the front: numbers little-endian, zeroes behind the
/// end. What a target reads from it, its function in
/// tests/fuzz/seeds.h writes.
class Input {
 public:
  Input(const std::uint8_t* data, std::size_t size) noexcept
      : left_(reinterpret_cast<const std::byte*>(data), size) {}

  bool empty() const noexcept { return left_.empty(); }

  template <typename T = std::uint8_t>
  T number() noexcept {
    std::uint64_t value = 0;
    const auto bytes = this->bytes(sizeof(T));
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      value |= std::to_integer<std::uint64_t>(bytes[i]) << (8 * i);
    }
    return static_cast<T>(value);
  }

  /// A number below `count`, which is at most 256.
  unsigned choice(unsigned count) noexcept { return number() % count; }
  bool flag() noexcept { return (number() & 1U) != 0; }

  std::span<const std::byte> bytes(std::size_t size) noexcept {
    const auto taken = left_.first(std::min(size, left_.size()));
    left_ = left_.subspan(taken.size());
    return taken;
  }

  /// Bytes with their number, of two bytes, in front.
  std::span<const std::byte> block() noexcept { return bytes(number<std::uint16_t>()); }

  std::span<const std::byte> rest() noexcept { return bytes(left_.size()); }

  std::string_view text() noexcept {
    const auto taken = rest();
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  /// Fills an array as far as the input goes.
  template <typename Array>
  Array array() noexcept {
    Array array{};
    std::ranges::copy(bytes(array.size()), array.begin());
    return array;
  }

 private:
  std::span<const std::byte> left_;
};

/// What holds whatever the input is; the fuzzer takes the end of the process for a finding.
inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "violated: %s\n", what);
  std::abort();
}

}  // namespace rdmablk::fuzz
