#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace rdmablk {

/// Bytes as hexadecimal digits, two each: "00ff".
std::string hex(std::span<const std::byte> bytes);

}  // namespace rdmablk
