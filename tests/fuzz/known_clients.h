#pragma once

#include <array>

#include "common/auth/key.h"

namespace rdmablk::fuzz {

/// Who takes part in authentication. The last is a stranger.
inline constexpr std::array kClients{"alice", "bob", "carol"};

/// Whose each key is, by its number; the key behind these is nobody's.
inline constexpr std::array kKeyOwners{0U, 0U, 1U};

inline auth::Key key_of_number(unsigned number) {
  std::array<std::byte, auth::Key::kSize> bytes{};
  bytes.fill(static_cast<std::byte>(number + 1));
  return auth::Key(bytes);
}

}  // namespace rdmablk::fuzz
