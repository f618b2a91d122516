#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace rdmablk::fuzz {

/// Writes an input, piece by piece, as Input reads it.
class Output {
 public:
  template <typename T>
  Output& number(T value) {
    for (std::size_t i = 0; i < sizeof(T); ++i) {
      bytes_.push_back(static_cast<std::byte>(static_cast<std::uint64_t>(value) >> (8 * i)));
    }
    return *this;
  }
  /// One byte: a choice or a flag.
  Output& pick(unsigned value) { return number(static_cast<std::uint8_t>(value)); }

  Output& bytes(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return *this;
  }
  Output& block(std::span<const std::byte> bytes) {
    return number(static_cast<std::uint16_t>(bytes.size())).bytes(bytes);
  }
  Output& text(std::string_view text) { return bytes(std::as_bytes(std::span(text))); }

  std::span<const std::byte> made() const noexcept { return bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace rdmablk::fuzz
