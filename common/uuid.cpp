#include "common/uuid.h"

#include <fmt/format.h>

#include <charconv>

#include "common/random.h"

namespace rdmablk {

protocol::Uuid make_uuid() {
  auto uuid = random_bytes<protocol::Uuid>();
  uuid[6] = (uuid[6] & std::byte{0x0f}) | std::byte{0x40};
  uuid[8] = (uuid[8] & std::byte{0x3f}) | std::byte{0x80};
  return uuid;
}

std::string format_uuid(const protocol::Uuid& uuid) {
  std::string text;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += fmt::format("{:02x}", std::to_integer<unsigned>(uuid[i]));
  }
  return text;
}

std::optional<protocol::Uuid> parse_uuid(std::string_view text) {
  protocol::Uuid uuid{};
  std::string digits;
  for (const char c : text) {
    if (c != '-') digits += c;
  }
  if (digits.size() != 2 * uuid.size()) return std::nullopt;
  for (std::size_t i = 0; i < uuid.size(); ++i) {
    const char* const first = digits.data() + 2 * i;
    unsigned value = 0;
    const auto [end, error] = std::from_chars(first, first + 2, value, 16);
    if (error != std::errc() || end != first + 2) return std::nullopt;
    uuid[i] = static_cast<std::byte>(value);
  }
  if (format_uuid(uuid) != text) return std::nullopt;
  return uuid;
}

}  // namespace rdmablk
