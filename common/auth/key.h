#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <span>
#include <string_view>

#include "common/auth/secret_text.h"

namespace rdmablk::auth {

/// A secret that two ends share. Each copy is wiped when it goes, and none can be printed or logged
/// but by text(), which says so.
class Key {
 public:
  static constexpr std::size_t kSize = 32;

  explicit Key(std::span<const std::byte, kSize> bytes) noexcept;
  ~Key();
  Key(const Key&) = default;
  Key& operator=(const Key&) = default;

  /// A new one from the system's generator. Throws Error.
  static Key generate();

  /// Reads "rdmablk-key-1:" and 64 hexadecimal digits. Nothing for anything else.
  static std::optional<Key> parse(std::string_view text);

  /// The secret itself, as parse() reads it.
  SecretText text() const;

  std::span<const std::byte, kSize> bytes() const noexcept { return bytes_; }

  /// In constant time.
  bool operator==(const Key& other) const noexcept;

 private:
  Key() = default;

  std::array<std::byte, kSize> bytes_{};
};

}  // namespace rdmablk::auth
