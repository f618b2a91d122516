#include "common/nearest_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace rdmablk {
namespace {

/// Longer words are nobody's slip, and not worth the time.
constexpr std::size_t kLongest = 64;

/// How many letters are wrong, missing, too many, or swapped with their neighbour.
std::size_t distance(std::string_view from, std::string_view to) {
  std::vector<std::vector<std::size_t>> table(from.size() + 1,
                                              std::vector<std::size_t>(to.size() + 1));
  for (std::size_t i = 0; i <= from.size(); ++i) table[i][0] = i;
  for (std::size_t j = 0; j <= to.size(); ++j) table[0][j] = j;
  for (std::size_t i = 1; i <= from.size(); ++i) {
    for (std::size_t j = 1; j <= to.size(); ++j) {
      const std::size_t wrong = from[i - 1] == to[j - 1] ? 0 : 1;
      std::size_t least =
          std::min({table[i - 1][j] + 1, table[i][j - 1] + 1, table[i - 1][j - 1] + wrong});
      const bool swapped = i > 1 && j > 1 && from[i - 1] == to[j - 2] && from[i - 2] == to[j - 1];
      if (swapped) least = std::min(least, table[i - 2][j - 2] + 1);
      table[i][j] = least;
    }
  }
  return table[from.size()][to.size()];
}

}  // namespace

std::optional<std::string_view> nearest_word(std::string_view word,
                                             std::span<const std::string_view> known) {
  if (word.empty() || word.size() > kLongest) return std::nullopt;
  std::optional<std::string_view> nearest;
  std::size_t least = std::max<std::size_t>(word.size() / 3, 1) + 1;
  for (const std::string_view candidate : known) {
    const std::size_t wrong = distance(word, candidate);
    if (wrong >= least || wrong >= candidate.size()) continue;
    nearest = candidate;
    least = wrong;
  }
  return nearest;
}

std::string suggestion(std::string_view word, std::span<const std::string_view> known) {
  const auto nearest = nearest_word(word, known);
  return nearest ? fmt::format("; do you mean '{}'?", *nearest) : std::string();
}

}  // namespace rdmablk
