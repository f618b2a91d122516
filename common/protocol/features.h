#pragma once

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace rdmablk::protocol {

/// What the first version of the protocol did not have, by its bit in HELLO. An initiator says what
/// it knows, a target answers with what both know, and neither uses anything else in the session.
enum class Feature : std::uint64_t {
  resize = std::uint64_t{1} << 0,    ///< EVENT says that an export has another size
  counters = std::uint64_t{1} << 1,  ///< KEEPALIVE says what an initiator has done
  paths = std::uint64_t{1} << 2,     ///< I/O queues may come over other devices than their session
};

/// A set of features. May have bits that this version has no name for, as a peer may be newer.
class Features {
 public:
  constexpr Features() noexcept = default;
  constexpr Features(std::initializer_list<Feature> features) noexcept {
    for (const Feature feature : features) bits_ |= static_cast<std::uint64_t>(feature);
  }

  /// @param bits as HELLO has them.
  static constexpr Features from_bits(std::uint64_t bits) noexcept {
    Features features;
    features.bits_ = bits;
    return features;
  }

  constexpr std::uint64_t bits() const noexcept { return bits_; }

  constexpr bool has(Feature feature) const noexcept {
    return (bits_ & static_cast<std::uint64_t>(feature)) != 0;
  }

  /// Those that `other` has, too.
  constexpr Features common_with(Features other) const noexcept {
    return from_bits(bits_ & other.bits_);
  }

  constexpr Features without(Features other) const noexcept {
    return from_bits(bits_ & ~other.bits_);
  }

  /// For people: "resize", with commas between several, a bit without a name as a number in
  /// hexadecimal; "none" for the empty set.
  std::string text() const;

  friend constexpr bool operator==(Features, Features) noexcept = default;

 private:
  std::uint64_t bits_ = 0;
};

/// All that this version knows.
inline constexpr Features kKnownFeatures{Feature::resize, Feature::counters, Feature::paths};

/// Reads a mask: `all`; or names and numbers (decimal, or hexadecimal behind 0x) with commas
/// between them. Throws UsageError.
/// @param option for the message, such as "--mask-features".
Features parse_features(std::string_view option, std::string_view text);

}  // namespace rdmablk::protocol
