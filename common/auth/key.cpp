#include "common/auth/key.h"

#include <openssl/crypto.h>

#include <algorithm>

#include "common/random.h"

namespace rdmablk::auth {
namespace {

constexpr std::string_view kPrefix = "rdmablk-key-1:";
constexpr std::string_view kDigits = "0123456789abcdef";

/// @return nothing for what is no digit.
std::optional<unsigned> digit(char c) {
  if (c >= 'A' && c <= 'F') c = static_cast<char>(c - 'A' + 'a');
  const auto value = kDigits.find(c);
  if (value == std::string_view::npos) return std::nullopt;
  return static_cast<unsigned>(value);
}

}  // namespace

Key::Key(std::span<const std::byte, kSize> bytes) noexcept {
  std::copy(bytes.begin(), bytes.end(), bytes_.begin());
}

Key::~Key() {
  OPENSSL_cleanse(bytes_.data(), bytes_.size());
}

Key Key::generate() {
  Key key;
  fill_random(key.bytes_);
  return key;
}

std::optional<Key> Key::parse(std::string_view text) {
  if (!text.starts_with(kPrefix)) return std::nullopt;
  text.remove_prefix(kPrefix.size());
  if (text.size() != 2 * kSize) return std::nullopt;
  Key key;
  for (std::size_t i = 0; i < kSize; ++i) {
    const auto high = digit(text[2 * i]);
    const auto low = digit(text[2 * i + 1]);
    if (!high || !low) return std::nullopt;
    key.bytes_[i] = static_cast<std::byte>(*high << 4U | *low);
  }
  return key;
}

SecretText Key::text() const {
  SecretText text(kPrefix.size() + 2 * kSize);
  auto next = std::copy(kPrefix.begin(), kPrefix.end(), text.buffer().begin());
  for (const std::byte byte : bytes_) {
    const auto value = std::to_integer<unsigned>(byte);
    *next++ = kDigits[value >> 4U];
    *next++ = kDigits[value & 15U];
  }
  return text;
}

bool Key::operator==(const Key& other) const noexcept {
  return CRYPTO_memcmp(bytes_.data(), other.bytes_.data(), kSize) == 0;
}

}  // namespace rdmablk::auth
