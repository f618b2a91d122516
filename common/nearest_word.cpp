#include "common/nearest_word.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

namespace rdmablk {
namespace {

/// No word of ours is as long; the work grows with the square.
constexpr std::size_t kMaxLength = 64;

/// Optimal string alignment distance.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> older(b.size() + 1);
  std::vector<std::size_t> old(b.size() + 1);
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) old[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replaced = old[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({old[j] + 1, row[j - 1] + 1, replaced});
      const bool exchanged = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1];
      if (exchanged) row[j] = std::min(row[j], older[j - 2] + 1);
    }
    std::swap(older, old);
    std::swap(old, row);
  }
  return old[b.size()];
}

}  // namespace

std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known) {
  if (word.size() > kMaxLength) return std::nullopt;
  std::optional<std::string> nearest;
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    if (candidate.size() > kMaxLength) continue;
    const std::size_t letters = distance(word, candidate);
    if (letters >= least) continue;
    least = letters;
    nearest = candidate;
  }
  return nearest;
}

std::string suggestion(std::string_view word, std::span<const std::string> known) {
  const auto nearest = nearest_word(word, known);
  return nearest ? fmt::format("; did you mean '{}'?", *nearest) : "";
}

}  // namespace rdmablk
