#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rdmablk {

/// The word that somebody may have meant who wrote another one: the nearest by letters that are
/// wrong, missing, too many or swapped.
/// @return nothing when none is near: more than a third of its letters would be wrong.
std::optional<std::string_view> nearest_word(std::string_view word,
                                             std::span<const std::string_view> known);

/// "; do you mean 'give_up'?", or nothing when no word is near.
std::string suggestion(std::string_view word, std::span<const std::string_view> known);

}  // namespace rdmablk
