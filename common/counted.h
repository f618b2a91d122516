#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace rdmablk {

/// So many of something, for people: "1 request", "3 requests".
/// @param noun in the singular; its plural has an s more.
inline std::string counted(std::uint64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

}  // namespace rdmablk
