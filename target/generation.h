#pragma once

#include "common/protocol/messages.h"

namespace rdmablk::target {

/// Makes another generation of it, that nobody has: cannot fail.
inline void change(protocol::Generation& generation) noexcept {
  for (std::byte& digit : generation) {
    digit = static_cast<std::byte>(std::to_integer<unsigned>(digit) + 1);
    if (digit != std::byte{0}) break;
  }
}

}  // namespace rdmablk::target
