#include "common/protocol/features.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <vector>

#include "common/error.h"

namespace rdmablk::protocol {
namespace {

constexpr std::string_view kAll = "all";

struct Named {
  Feature feature;
  std::string_view name;
};

constexpr std::array kNames{Named{Feature::resize, "resize"}, Named{Feature::counters, "counters"},
                            Named{Feature::paths, "paths"}};

std::optional<std::uint64_t> read_bits(std::string_view text) {
  const bool is_hexadecimal = text.starts_with("0x");
  if (is_hexadecimal) text.remove_prefix(2);
  std::uint64_t bits = 0;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, bits, is_hexadecimal ? 16 : 10);
  if (text.empty() || error != std::errc() || rest != end) return std::nullopt;
  return bits;
}

std::optional<Features> read_one(std::string_view word) {
  if (word == kAll) return Features::from_bits(std::numeric_limits<std::uint64_t>::max());
  for (const auto& [feature, name] : kNames) {
    if (word == name) return Features{feature};
  }
  const auto bits = read_bits(word);
  if (!bits) return std::nullopt;
  return Features::from_bits(*bits);
}

}  // namespace

std::string Features::text() const {
  std::vector<std::string> words;
  Features rest = *this;
  for (const auto& [feature, name] : kNames) {
    if (!has(feature)) continue;
    words.emplace_back(name);
    rest = rest.without({feature});
  }
  if (rest.bits() != 0) words.push_back(fmt::format("{:#x}", rest.bits()));
  return words.empty() ? "none" : fmt::format("{}", fmt::join(words, ","));
}

Features parse_features(std::string_view option, std::string_view text) {
  Features features;
  std::string_view rest = text;
  while (true) {
    const auto comma = rest.find(',');
    const auto one = read_one(rest.substr(0, comma));
    if (!one) {
      throw UsageError(
          fmt::format("{} is '{}', and '{}' is no feature: it takes all, numbers such as 0x1, or "
                      "of these, with commas between them: {}",
                      option, text, rest.substr(0, comma), kKnownFeatures.text()));
    }
    features = Features::from_bits(features.bits() | one->bits());
    if (comma == std::string_view::npos) return features;
    rest.remove_prefix(comma + 1);
  }
}

}  // namespace rdmablk::protocol
