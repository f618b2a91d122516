#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rdmablk {

/// The word that somebody who wrote another one most likely meant: the one that takes the fewest
/// letters to be put in, left out, replaced, or exchanged with their neighbour.
/// @return nothing when more than a third of the letters would have to be touched.
std::optional<std::string> nearest_word(std::string_view word, std::span<const std::string> known);

/// "; did you mean 'slot_size'?", or nothing when no known word is near.
std::string suggestion(std::string_view word, std::span<const std::string> known);

}  // namespace rdmablk
