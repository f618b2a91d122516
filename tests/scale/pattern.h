#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

namespace rdmablk::scale {

/// What lies at an offset of an export: every word differs from all others, and from those of
/// another salt.
class Pattern {
 public:
  /// @param salt of the export.
  explicit Pattern(std::uint64_t salt) noexcept : salt_(salt) {}

  /// @param offset of the first byte. Offset and size are multiples of 8.
  void fill(std::span<std::byte> bytes, std::uint64_t offset) const noexcept {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
      const std::uint64_t word = word_at(offset + at);
      std::memcpy(bytes.data() + at, &word, sizeof word);
    }
  }

  /// Whether that is what lies there.
  bool matches(std::span<const std::byte> bytes, std::uint64_t offset) const noexcept {
    for (std::size_t at = 0; at < bytes.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, bytes.data() + at, sizeof word);
      if (word != word_at(offset + at)) return false;
    }
    return true;
  }

 private:
  std::uint64_t word_at(std::uint64_t offset) const noexcept {
    constexpr std::uint64_t kOdd = 0x9e3779b97f4a7c15;
    return (offset + 1 + (salt_ << 40U)) * kOdd;
  }

  std::uint64_t salt_;
};

}  // namespace rdmablk::scale
