#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rdmablk {

/// The unit that sizes of exports are multiples of, in bytes.
inline constexpr std::uint64_t kSectorSize = 512;

/// Reads a size: a decimal number of bytes, or with the suffix K, M, G or T (powers of 1024, either
/// case). Returns nothing for an empty text, a sign, a fraction, an unknown suffix or a value
/// that does not fit 64 bits.
std::optional<std::uint64_t> parse_size(std::string_view text);

/// Reads an unsigned decimal number of at most `maximum`; nothing for anything else.
std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t maximum);

/// Reads a number of seconds of at most `maximum`, whole or with up to three decimals; nothing for
/// anything else.
std::optional<std::chrono::milliseconds> parse_seconds(std::string_view text,
                                                       std::uint64_t maximum);

/// The size for people, in the largest unit that needs no more than two decimals: "256 MiB",
/// "1.5 GiB", "513 bytes".
std::string format_size(std::uint64_t bytes);

}  // namespace rdmablk
