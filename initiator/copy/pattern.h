#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rdmablk::copy {

/// Bytes that go on without end, each known by its position.
class Pattern {
 public:
  /// The same bytes over and over. @param bytes at least one.
  static Pattern of(std::vector<std::byte> bytes) { return Pattern(std::move(bytes), 0); }

  /// Bytes that look random; the same ones for the same seed.
  static Pattern random(std::uint64_t seed) { return Pattern({}, seed); }

  /// The bytes from a position on. Any thread.
  void fill(std::span<std::byte> memory, std::uint64_t position) const noexcept;

 private:
  Pattern(std::vector<std::byte> bytes, std::uint64_t seed)
      : bytes_(std::move(bytes)), seed_(seed) {}

  void repeat(std::span<std::byte> memory, std::uint64_t position) const noexcept;
  void randomize(std::span<std::byte> memory, std::uint64_t position) const noexcept;

  std::vector<std::byte> bytes_;  ///< none: random ones
  std::uint64_t seed_;
};

/// Reads bytes as people write them: "deadbeef", "0xFF", "de ad be ef". Throws UsageError.
/// @param option how it is called, for the message.
std::vector<std::byte> read_hex(const std::string& option, const std::string& text);

}  // namespace rdmablk::copy
