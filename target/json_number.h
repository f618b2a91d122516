#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <stdexcept>

namespace rdmablk::target {

/// A number without a sign or a fraction. The library takes all others for one, too, and what they
/// become is anything. Throws std::out_of_range.
inline std::uint64_t number_from(const nlohmann::json& value) {
  if (!value.is_number_unsigned()) throw std::out_of_range("number");
  return value.get<std::uint64_t>();
}

}  // namespace rdmablk::target
