#include "common/units.h"

#include <fmt/format.h>

#include <array>
#include <charconv>

namespace rdmablk {
namespace {

/// How far a suffix shifts; nothing for an unknown one.
std::optional<unsigned> shift_of(char suffix) {
  switch (suffix) {
    case 'k':
    case 'K':
      return 10;
    case 'm':
    case 'M':
      return 20;
    case 'g':
    case 'G':
      return 30;
    case 't':
    case 'T':
      return 40;
    default:
      return std::nullopt;
  }
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

}  // namespace

std::optional<std::uint64_t> parse_number(std::string_view text, std::uint64_t maximum) {
  if (text.empty() || !is_digit(text.front())) return std::nullopt;
  std::uint64_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stop != end || value > maximum) return std::nullopt;
  return value;
}

std::optional<std::uint64_t> parse_size(std::string_view text) {
  if (text.empty()) return std::nullopt;
  unsigned shift = 0;
  if (!is_digit(text.back())) {
    const auto found = shift_of(text.back());
    if (!found) return std::nullopt;
    shift = *found;
    text.remove_suffix(1);
  }
  const auto number = parse_number(text, UINT64_MAX >> shift);
  if (!number) return std::nullopt;
  return *number << shift;
}

std::optional<std::chrono::milliseconds> parse_seconds(std::string_view text,
                                                       std::uint64_t maximum) {
  const std::size_t point = text.find('.');
  const auto whole = parse_number(text.substr(0, point), maximum);
  if (!whole) return std::nullopt;
  std::uint64_t thousandths = 0;
  if (point != std::string_view::npos) {
    std::string_view decimals = text.substr(point + 1);
    const auto value = parse_number(decimals, 999);
    if (!value || decimals.size() > 3) return std::nullopt;
    thousandths = *value;
    for (std::size_t digits = decimals.size(); digits < 3; ++digits) thousandths *= 10;
  }
  const std::chrono::milliseconds time(*whole * 1000 + thousandths);
  return time > std::chrono::seconds(maximum) ? std::nullopt : std::optional(time);
}

std::string format_size(std::uint64_t bytes) {
  struct Unit {
    unsigned shift;
    const char* name;
  };
  static constexpr std::array<Unit, 4> kUnits{{{40, "TiB"}, {30, "GiB"}, {20, "MiB"}, {10, "KiB"}}};
  for (const Unit& unit : kUnits) {
    const std::uint64_t one = std::uint64_t{1} << unit.shift;
    if (bytes < one) continue;
    if (bytes % one == 0) return fmt::format("{} {}", bytes >> unit.shift, unit.name);
    if (const std::uint64_t quarters = bytes % one / (one / 4); bytes % (one / 4) == 0) {
      static constexpr std::array kFractions{"", ".25", ".5", ".75"};
      return fmt::format("{}{} {}", bytes >> unit.shift, kFractions.at(quarters), unit.name);
    }
  }
  return fmt::format("{} bytes", bytes);
}

}  // namespace rdmablk
